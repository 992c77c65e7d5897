import { AdminTokensFile, adminUrlOf } from '../../../fixtures/admin-fixture.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { sees } from '../account-page-acts.js';
import { openConsole } from '../admin-console-acts.js';

const tokens = await AdminTokensFile.create();
const server = await startServer({ env: tokens.env });
const url = await adminUrlOf(server);
afterAll(() => server.stop());
const visit = useChromium();

const finding = (severity: string, code: string, params: object = {}) => ({
  ...{ severity, code, params },
  message: `The setting ${code} is on: people of ${code} are refused.`,
});
const ERROR = finding('error', 'locked');
const WARNINGS = [
  finding('warning', 'anonymous-signup-with-required-provider'),
  finding('warning', 'refresh-token-scope-missing', { provider: 'people' }),
  finding('warning', 'refresh-token-scope-missing', { provider: 'guild' }),
];
const NOTICES = [finding('notice', 'fourth'), finding('notice', 'fifth')];

/** Shows these findings in place of those of the server, from the next load on. */
async function replaceFindings({ page }: Visitor, findings: readonly object[]): Promise<void> {
  await page.unroute('**/admin/v1/policy');
  await page.route('**/admin/v1/policy', async (route) => {
    const answer = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...answer, findings } });
  });
  await page.reload();
}

inChromium('the overview of the console', () => {
  it('shows the numbers of accounts below the findings on the first screen of a phone', async () => {
    const visitor = await openConsole(visit, url, tokens.reader);
    const { page } = visitor;
    await page.setViewportSize({ width: 390, height: 844 });
    await replaceFindings(visitor, [...WARNINGS, ...NOTICES]);
    await sees(visitor, '2 more findings');
    const numbers = page.locator('a.count-tile');
    expect(await numbers.count()).toBe(3);
    for (const number of await numbers.all()) {
      const { y = 0, height = 0 } = (await number.boundingBox()) ?? {};
      expect(y + height).toBeLessThanOrEqual(844);
    }
  });

  it('opens a finding with the keyboard, and shows an error whole', async () => {
    const visitor = await openConsole(visit, url, tokens.reader);
    const { page } = visitor;
    await replaceFindings(visitor, [ERROR, ...NOTICES]);
    await sees(visitor, 'The setting locked is on: people of locked are refused.');
    const consequence = page.getByText('people of fifth are refused.', { exact: true });
    expect(await consequence.isVisible()).toBe(false);
    await page.locator('summary', { hasText: 'The setting fifth is on' }).press('Enter');
    await consequence.waitFor();
    expect(await page.getByRole('button', { name: /^Dismiss: / }).count()).toBe(1);
  });

  it('hides a finding in this browser until its content changes', async () => {
    const visitor = await openConsole(visit, url, tokens.reader);
    const { page } = visitor;
    await replaceFindings(visitor, NOTICES);
    const shown = page.locator('.findings li');
    await page.locator('summary', { hasText: 'The setting fourth is on' }).click();
    await page.getByRole('button', { name: 'Dismiss: fourth' }).click();
    await sees(visitor, '1 finding is hidden in this browser.');
    expect(await shown.count()).toBe(1);
    await page.reload();
    await sees(visitor, '1 finding is hidden in this browser.');
    const changed = NOTICES.map((one) => ({ ...one, params: { changed: true } }));
    await replaceFindings(visitor, changed);
    await shown.nth(1).waitFor();
    expect(await shown.count()).toBe(2);
  });
});
