import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { createAccount, open, sees, seesAccount } from '../account-page-acts.js';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

/** Holds a file of the page back. @returns a function that lets it go, and waits until the page has run it */
async function hold({ page }: Visitor, file: RegExp): Promise<() => Promise<void>> {
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((done) => (letGo = done));
  await page.route(file, async (route) => {
    await gate;
    await route.continue();
  });
  const requested = page.waitForRequest(file);
  return async () => {
    const url = (await requested).url();
    letGo();
    // It is the same module, so the page has it before this import has it.
    await page.evaluate(`import(${JSON.stringify(url)}).then(() => undefined)`);
  };
}

inChromium('the language of the account page', () => {
  const GERMAN = /\/assets\/de-[^/]{8}\.js$/;

  let visitor: Visitor;
  beforeEach(async () => {
    visitor = await visit(`${server.url}/app`);
  });

  const choose = (label: string, name: string) => visitor.page.getByLabel(label).selectOption(name);

  it('is the one that was chosen last, even when an earlier one loads later', async () => {
    const release = await hold(visitor, GERMAN);
    await choose('Language', 'Deutsch');
    await choose('Language', 'English');
    await release();
    await createAccount(visitor);
    const { page } = visitor;
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    expect(await page.getByLabel('Language').inputValue()).toBe('en');
    await page.reload();
    await seesAccount(visitor);
  });

  it('is the same for a section that opens while it changes', async () => {
    await createAccount(visitor);
    const release = await hold(visitor, GERMAN);
    await choose('Language', 'Deutsch');
    await open(visitor, 'Security');
    await sees(visitor, 'Key on this device');
    await release();
    await sees(visitor, 'Sicherheit');
    await sees(visitor, 'Schlüssel auf diesem Gerät');
  });

  it('can be chosen again after the texts of one section could not be loaded', async () => {
    const { page } = visitor;
    const texts = /\/assets\/de-requests-[^/]{8}\.js$/;
    await createAccount(visitor);
    await choose('Language', 'Deutsch');
    await sees(visitor, 'Übersicht');
    await page.route(texts, (route) => route.abort());
    const failed = page.waitForEvent('requestfailed', (request) => texts.test(request.url()));
    await page.getByRole('link', { name: /^Anfragen/ }).click();
    await failed;
    await choose('Sprache', 'English');
    await sees(visitor, 'Overview');
    await choose('Language', 'Deutsch');
    await sees(visitor, 'Übersicht');
  });
});
