import {
  readWebPushToken,
  type WebPushMessage,
} from '../../../../src/packages/client/notifications/web-push.js';
import { encryptWebPush } from '../../../../src/packages/notify/push/web-push-encryption.js';
import { FakeFirefoxPushService } from '../../../fakes/firefox-push-service.js';
import { closeVisitor, type Visitor } from '../../../fixtures/programs/browser-fixture.js';
import { createCliUser, type CliUser } from '../../../fixtures/programs/cli-fixture.js';
import {
  hasEngine,
  startEngine,
  type Engine,
  type EngineName,
} from '../../../fixtures/programs/engine-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import {
  accountId,
  createAccount,
  enterKey,
  open,
  overflow,
  sees,
  seesAccount,
  seesSignIn,
  tokenOf,
} from '../account-page-acts.js';
import { acceptAccount, approveCode, beginLogin, finishLogin, takeWords } from '../device-acts.js';

const DESKTOP = { width: 1000, height: 700 };
const PHONE = { width: 320, height: 700 };

let server: Server;
let pushService: FakeFirefoxPushService;
beforeAll(async () => {
  [server, pushService] = await Promise.all([startServer(), FakeFirefoxPushService.start()]);
});
afterAll(() => Promise.all([server.stop(), pushService.close()]));

const ENGINES = (['Firefox', 'WebKit'] satisfies EngineName[]).map(
  (name) => [name, hasEngine(name) ? describe : describe.skip] as const,
);

for (const [name, suite] of ENGINES) {
  suite(`the account page in ${name}`, () => {
    let engine: Engine;
    let visitor: Visitor;
    let machine: CliUser;

    beforeAll(async () => {
      [engine, machine] = await Promise.all([
        startEngine(name, pushService.preferences),
        createCliUser(),
      ]);
    });
    afterAll(() => engine.close());
    afterEach(() => closeVisitor(visitor));

    async function visit(size = DESKTOP): Promise<void> {
      visitor = await engine.visit(`${server.url}/app`, size);
      await seesSignIn(visitor);
    }

    it('signs up, out and in with the same key', async () => {
      await visit();
      const key = await createAccount(visitor);
      const id = await accountId(visitor);
      await visitor.press('Sign out');
      await seesSignIn(visitor);
      await enterKey(visitor, key);
      await seesAccount(visitor);
      expect(await accountId(visitor)).toBe(id);
    });

    it('adds a device by its code, with the key', async () => {
      await visit();
      const key = await createAccount(visitor);
      const { cli, ...printed } = await beginLogin(machine, server.url);
      await open(visitor, 'Devices and sessions');
      await visitor.press('Add a device…');
      await visitor.page.getByLabel('Code that the new device shows').fill(printed.userCode);
      await visitor.press('Continue');
      await sees(visitor, printed.checkWords.join(' '));
      const keyField = visitor.page.getByLabel('Device key', { exact: true });
      if ((await keyField.count()) > 0) {
        await keyField.fill(key);
      }
      await visitor.page.getByLabel('The new device shows the same words').check();
      await visitor.press('Add the device');
      await finishLogin(cli, await takeWords(visitor));
      expect((await machine.run(['key', 'show'])).stdout.trim()).toBe(key);
    });

    it('is added by another device, by its code', async () => {
      await visit();
      const owner = await createCliUser();
      const signedUp = await owner.run(['signup', '--server', server.url, '--json']);
      await visitor.press('Use a signed-in device');
      const code = await visitor.page.getByText(/^[B-Z]{4}-[B-Z]{4}$/).innerText();
      await acceptAccount(visitor, await approveCode(owner, code));
      await seesAccount(visitor);
      expect(JSON.parse(signedUp.stdout)).toMatchObject({ accountId: await accountId(visitor) });
    });

    it('shows changes that are made elsewhere, and the end of its session', async () => {
      await visit();
      await createAccount(visitor);
      await open(visitor, 'Devices and sessions');
      await sees(visitor, 'No device gets notifications yet');
      const mine = { token: await tokenOf(visitor) };
      const body = { token: 'ExponentPushToken[abcdefghijklmnop]', name: 'Pixel 9' };
      await call(server, 'POST', '/v1/push-tokens', { ...mine, body });
      await sees(visitor, 'Pixel 9');
      await call(server, 'POST', '/v1/auth/logout-everywhere', mine);
      await seesSignIn(visitor);
    });

    async function openNotifications(size = DESKTOP): Promise<void> {
      await visit(size);
      const { page } = visitor;
      const key = await createAccount(visitor);
      await open(visitor, 'Notifications');
      const keyField = page.getByLabel('Device key', { exact: true });
      const opened = page.getByRole('button', { name: 'Add a webhook' });
      await keyField.or(opened).first().waitFor();
      if ((await keyField.count()) > 0) {
        await keyField.fill(key);
        await visitor.press('Open the settings');
      }
      await opened.waitFor();
    }

    const inFirefox = name === 'Firefox' ? it : it.skip;
    inFirefox('shows a notification that its push service delivers', async () => {
      await openNotifications();
      await visitor.press('Turn on in this browser');
      await sees(visitor, 'This browser now shows your notifications.');
      const mine = { token: await tokenOf(visitor) };
      const { body } = await call<{ tokens: { token: string }[] }>(
        server,
        'GET',
        '/v1/push-tokens',
        mine,
      );
      const subscription = readWebPushToken(body.tokens[0]?.token ?? '');
      if (subscription === null) {
        throw new Error('The page saved no subscription.');
      }
      const message: WebPushMessage = {
        ...{ title: 'Fix the build', body: 'npm test', tag: 'ses-1', createdAt: Date.now() },
        foregroundBehavior: 'full',
        target: {
          ...{ topic: 'permission_request', serverUrl: server.url, sessionId: 'ses-1' },
          ...{ requestId: 'req-1', eventId: null },
        },
      };
      const encrypted = encryptWebPush(Buffer.from(JSON.stringify(message)), subscription);
      pushService.deliver(subscription.endpoint, encrypted);
      const shown = await waitFor('a notification', async () => {
        const titles = await visitor.page.evaluate<string[]>(
          `navigator.serviceWorker.getRegistration(document.baseURI)
            .then((worker) => worker.getNotifications())
            .then((all) => all.map(({ title }) => title))`,
        );
        return titles.length > 0 && titles;
      });
      expect(shown).toEqual(['Fix the build']);
    });

    const inWebKit = name === 'WebKit' ? it : it.skip;
    inWebKit('reports that it cannot receive notifications, and offers webhooks', async () => {
      await openNotifications();
      await sees(visitor, 'This browser cannot receive notifications.');
      expect(await visitor.text()).not.toContain('Home Screen');
      // Safari of an iPhone has this property, and no PushManager outside the Home Screen.
      await visitor.page.evaluate('void (navigator.standalone = false)');
      await open(visitor, 'Security');
      await open(visitor, 'Notifications');
      await sees(visitor, 'Home Screen');
    });

    it('shows a dialog whose title has no empty space below', async () => {
      await openNotifications({ width: 390, height: 800 });
      await visitor.press('Add a webhook');
      const title = visitor.page.getByRole('dialog').getByRole('heading', { level: 2 });
      await title.waitFor();
      const height = await title.evaluate((element) => element.getBoundingClientRect().height);
      expect(height).toBeLessThan(40);
      await visitor.page.keyboard.press('Escape');
      await title.waitFor({ state: 'hidden' });
    });

    // Firefox does not let a test choose the theme.
    inWebKit('follows the dark theme of the system', async () => {
      await visit();
      const { page } = visitor;
      const background = () =>
        page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await background()).toBe('rgb(244, 245, 242)');
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await background()).toBe('rgb(15, 19, 18)');
    });

    it('fits a phone of 320 pixels in German', async () => {
      await visit(PHONE);
      const { page } = visitor;
      await page.getByLabel('Language').selectOption('Deutsch');
      await page.getByRole('heading', { name: 'Bei Gatehouse anmelden' }).waitFor();
      expect(await overflow(visitor)).toBe(0);
      await page.getByLabel('Sprache').selectOption('English');
      await createAccount(visitor);
      await page.getByLabel('Language').selectOption('Deutsch');
      const wide: string[] = [];
      for (const section of ['Geräte und Sitzungen', 'Benachrichtigungen', 'Sicherheit']) {
        const tabs = page.getByRole('navigation', { name: 'Konto' });
        await tabs.getByRole('link', { name: section, exact: true }).click();
        await page.getByRole('heading', { name: section, level: 1 }).waitFor();
        wide.push(...((await overflow(visitor)) > 0 ? [section] : []));
      }
      // Windows of WebKit share the choice.
      await page.getByLabel('Sprache').selectOption('English');
      expect(wide).toEqual([]);
    });
  });
}
