import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { filmOfQr, readQr } from '../../../fixtures/camera-fixture.js';
import {
  closeVisitor,
  hasChromium,
  startChromium,
  visit,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { accountId, createAccount, sees, seesAccount, seesSignIn } from '../account-page-acts.js';

const SCAN = 'Scan the QR code';

(hasChromium() ? describe : describe.skip)('the camera at the sign-in', () => {
  let server: Server;
  let browser: Browser;
  let folder: string;
  let visitor: Visitor;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-camera-'));
    [server, browser] = await Promise.all([startServer(), startChromium()]);
  });
  afterEach(() => closeVisitor(visitor));
  afterAll(async () => {
    await browser.close();
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** Starts a browser whose camera shows a QR code. */
  async function startWithCamera(text: string): Promise<Browser> {
    const film = join(folder, 'camera.y4m');
    await writeFile(film, filmOfQr(text));
    return startChromium([
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-video-capture=${film}`,
    ]);
  }

  it('signs in with the key of a printed sheet', async () => {
    visitor = await visit(browser, `${server.url}/app`, {});
    const { page } = visitor;
    await visitor.press('Create an account');
    await page.evaluate('window.print = () => document.body.classList.add("printed")');
    await visitor.press('Print');
    await page.locator('body.printed').waitFor();
    await page.emulateMedia({ media: 'print' });
    const printed = await readQr(browser, await page.locator('.sheet .qr').screenshot());
    await page.emulateMedia({ media: 'screen' });
    await page.getByLabel('I saved the key').check();
    await visitor.press('Create the account');
    await seesAccount(visitor);
    const id = await accountId(visitor);
    const withCamera = await startWithCamera(printed);
    const person = await visit(withCamera, `${server.url}/app`);
    await person.press(SCAN);
    await person.page.locator('input[name=key]:focus').waitFor();
    expect(await person.page.locator('video').count()).toBe(0);
    await person.press('Sign in');
    await seesAccount(person);
    expect(await accountId(person)).toBe(id);
    expect(person.browserErrors).toEqual([]);
    await withCamera.close();
  });

  it('refuses another QR code, and goes on scanning', async () => {
    visitor = await visit(browser, `${server.url}/app`);
    const withCamera = await startWithCamera('https://gate.example/app/device#WDJB-MJHT.key');
    const person = await visit(withCamera, `${server.url}/app`);
    await person.press(SCAN);
    await sees(person, 'This QR code is no device key.');
    expect(await person.page.locator('input[name=key]').inputValue()).toBe('');
    expect(await person.page.locator('video').count()).toBe(1);
    await person.press('Stop the camera');
    await person.page.getByRole('button', { name: SCAN }).waitFor();
    expect(person.browserErrors).toEqual([]);
    await withCamera.close();
  });

  it.each([
    ['NotAllowedError', 'The camera is not allowed for this page. Type the key instead.'],
    ['NotFoundError', 'This device has no camera. Type the key instead.'],
    ['NotReadableError', 'The camera cannot be used. Type the key instead.'],
  ])('reports a camera that fails with %s', async (name, message) => {
    visitor = await visit(browser, `${server.url}/app`, {});
    await visitor.page.evaluate(
      `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '${name}'))`,
    );
    await visitor.press(SCAN);
    await sees(visitor, message);
    await visitor.page.getByRole('button', { name: SCAN }).waitFor();
  });

  it('says so where the browser has no access to a camera', async () => {
    visitor = await visit(browser, 'about:blank', {});
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
