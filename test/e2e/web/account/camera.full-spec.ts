import { readQr, visitWithCamera } from '../../../fixtures/camera-fixture.js';
import {
  closeVisitor,
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { accountId, createAccount, sees, seesAccount, seesSignIn } from '../account-page-acts.js';

const SCAN = 'Scan the QR code';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

inChromium('the camera at the sign-in', () => {
  let visitor: Visitor;

  it('signs in with the key of a printed sheet', async () => {
    visitor = await visit(`${server.url}/app`, {});
    const { page } = visitor;
    await visitor.press('Create an account');
    await page.evaluate('window.print = () => document.body.classList.add("printed")');
    await visitor.press('Print');
    await page.locator('body.printed').waitFor();
    await page.emulateMedia({ media: 'print' });
    const printed = await readQr(page.locator('.sheet .qr'));
    await page.emulateMedia({ media: 'screen' });
    await page.getByLabel('I saved the key').check();
    await visitor.press('Create the account');
    await seesAccount(visitor);
    const id = await accountId(visitor);
    const person = await visitWithCamera(printed, `${server.url}/app`);
    await person.press(SCAN);
    await person.page.locator('input[name=key]:focus').waitFor();
    expect(await person.page.locator('video').count()).toBe(0);
    await person.press('Sign in');
    await seesAccount(person);
    expect(await accountId(person)).toBe(id);
    await closeVisitor(person);
  });

  it('refuses another QR code, and goes on scanning', async () => {
    const link = 'https://gate.example/app/device#WDJB-MJHT.key';
    const person = await visitWithCamera(link, `${server.url}/app`);
    await person.press(SCAN);
    await sees(person, "This QR code isn't a device key.");
    expect(await person.page.locator('input[name=key]').inputValue()).toBe('');
    expect(await person.page.locator('video').count()).toBe(1);
    await person.press('Stop the camera');
    await person.page.getByRole('button', { name: SCAN }).waitFor();
    await closeVisitor(person);
  });

  it.each([
    ['NotAllowedError', 'The camera is not allowed for this page. Type the key instead.'],
    ['NotFoundError', 'This device has no camera. Type the key instead.'],
    ['NotReadableError', 'The camera cannot be used. Type the key instead.'],
  ])('reports a camera that fails with %s', async (name, message) => {
    visitor = await visit(`${server.url}/app`, {});
    await visitor.page.evaluate(
      `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '${name}'))`,
    );
    await visitor.press(SCAN);
    await sees(visitor, message);
    await visitor.page.getByRole('button', { name: SCAN }).waitFor();
  });

  it('says so where the browser has no access to a camera', async () => {
    visitor = await visit('about:blank', {});
    await visitor.page.addInitScript(
      "Object.defineProperty(navigator, 'mediaDevices', { value: undefined })",
    );
    await visitor.page.goto(`${server.url}/app`);
    await seesSignIn(visitor);
    await sees(visitor, 'This browser gives pages no access to a camera. Type the key instead.');
    expect(await visitor.page.getByRole('button', { name: SCAN }).count()).toBe(0);
    await createAccount(visitor);
  });
});
