import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { readQr } from '../../../fixtures/camera-fixture.js';
import { certificateDirectory, TestAuthority } from '../../../fixtures/certificates-fixture.js';
import { hasDbus, NotificationDaemon } from '../../../fixtures/programs/desktop-fixture.js';
import { FAKE_PUSH_MANAGER } from '../../../fakes/push-manager.js';
import { FakeWebPushService } from '../../../fakes/web-push-service.js';
import {
  deliverPush,
  hasChromium,
  startChromium,
  startProfile,
  visitWith,
  visitIn,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { createCliUser, type CliUser } from '../../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import { createAccount, open, sees, seesAccount } from '../account-page-acts.js';
import { acceptAccount, beginLogin, finishLogin } from '../device-acts.js';
import { KEEPS_PICTURES, RESULTS } from '../page-screenshots.js';

const canRun = hasChromium() && hasDbus();
/** The folder for the pictures of docs/notifications-walk-through.md. */
const PICTURES = join(RESULTS, 'notifications-walk-through');

interface EventLine {
  readonly outcomes: readonly { readonly state: string; readonly reason?: string }[];
}

/** Only the push service is local, and decrypts (test/fakes/push-manager.ts). */
(canRun ? describe : describe.skip)('notifications between two browsers and a computer', () => {
  const directory = certificateDirectory();
  const authority = TestAuthority.root(directory, 'Root');
  const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
  let server: Server;
  let service: FakeWebPushService;
  let desktop: NotificationDaemon;
  let laptopBrowser: Browser;
  let phone: BrowserContext;
  let machine: CliUser;
  let first: Visitor;
  let second: Visitor;

  beforeAll(async () => {
    server = await startServer();
    [service, desktop, laptopBrowser, machine] = await Promise.all([
      FakeWebPushService.start(certificate),
      NotificationDaemon.start(),
      startChromium(),
      createCliUser(),
    ]);
    phone = await startProfile(join(directory, 'profile'), {
      DBUS_SESSION_BUS_ADDRESS: desktop.address,
    });
    await givePushService(phone);
    [first, second] = await Promise.all([
      visitWith(laptopBrowser, `${server.url}/app`, { viewport: { width: 800, height: 500 } }),
      visitIn(phone, `${server.url}/app`),
    ]);
    await second.page.setViewportSize({ width: 390, height: 640 });
  });
  afterAll(async () => {
    await Promise.all([laptopBrowser.close(), phone.close()]);
    await Promise.all([desktop.close(), service.close()]);
    await server.stop();
  });

  async function givePushService(context: BrowserContext): Promise<void> {
    await context.grantPermissions(['notifications']);
    await context.exposeFunction('subscribeAtService', (key: string) =>
      service.subscribe(Buffer.from(key, 'base64').toString('base64url')),
    );
    await context.exposeFunction('unsubscribeAtService', (endpoint: string) =>
      service.expire(endpoint),
    );
    await context.addInitScript(FAKE_PUSH_MANAGER);
  }

  async function picture({ page }: Visitor, name: string): Promise<void> {
    if (KEEPS_PICTURES) {
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
    }
  }

  /** Scrolls a section of the page up to the bar at its top. */
  async function scrollTo({ page }: Visitor, section: string): Promise<void> {
    const box = await page.getByRole('region', { name: section }).boundingBox();
    await page.evaluate(`scrollBy(0, ${(box?.y ?? 0) - 80})`);
  }

  async function approve(link: string, key: string, name?: string): Promise<void> {
    const { page } = first;
    await page.goto(link);
    const consent = page.getByLabel('I started this myself');
    await consent.check();
    await page.getByLabel('Device key', { exact: true }).fill(key);
    if (name !== undefined) {
      await picture(first, name);
    }
    await first.press('Add the device');
    await sees(first, 'The device is added.');
  }

  async function openSettings(visitor: Visitor, key: string): Promise<void> {
    await open(visitor, 'Notifications');
    await visitor.page.getByLabel('Device key', { exact: true }).fill(key);
    await visitor.press('Open the settings');
  }

  async function setPush(isOn: boolean): Promise<void> {
    const control = first.page.getByRole('switch', { name: 'Send push notifications' });
    await control.click();
    await waitFor('the switch', async () => (await control.isChecked()) === isOn);
  }

  async function notify(...args: readonly string[]): Promise<EventLine> {
    const env = {
      NODE_EXTRA_CA_CERTS: authority.certPath,
      CLIENT_PUBLIC_REQUEST_PREVIEWS: '1',
      GATEHOUSE_PRIVATE_HOSTS: '127.0.0.1',
    };
    const { code, stdout, stderr } = await machine.run(['notify', ...args, '--json'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    return JSON.parse(stdout.split('\n')[0] ?? '') as EventLine;
  }

  /** Passes the last message for the second browser to it. */
  async function deliver(): Promise<void> {
    const kept = await second.page.evaluate("localStorage.getItem('test.subscription')");
    const { endpoint } = JSON.parse(String(kept)) as { endpoint: string };
    await deliverPush(second.page, server.url, service.messagesOf(endpoint).at(-1) ?? '');
  }

  const listed = () =>
    phone
      .serviceWorkers()
      .at(-1)
      ?.evaluate(
        `self.registration.getNotifications().then((all) =>
          all.map(({ title, silent, tag }) => ({ title, silent, tag })))`,
      ) as Promise<readonly { title: string; silent: boolean; tag: string }[]>;

  it('obeys the switch, adds a browser by its QR code, shows a request there and withdraws it', async () => {
    const key = await createAccount(first);

    // The computer logs in without a browser.
    const { cli, link } = await beginLogin(machine, server.url);
    await approve(link, key, 'notifications-approve');
    await finishLogin(cli, null);

    // The second browser is added by its QR code, and receives notifications.
    await second.press('Use a signed-in device');
    const code = second.page.getByRole('img', { name: 'QR code' });
    await code.waitFor();
    await picture(second, 'notifications-code');
    await approve(await readQr(code), key);
    await acceptAccount(second, null);
    await seesAccount(second);
    await openSettings(second, key);
    await second.page.getByLabel('Name of this browser').fill('My phone');
    await second.press('Turn on in this browser');
    await sees(second, 'This browser now shows your notifications.');
    await second.press('Show a test');
    await waitFor('the test', () =>
      desktop.notifications.some(({ title }) => title === 'Gatehouse test'),
    );
    await sees(second, 'A test notification was shown');
    await scrollTo(second, 'This browser');
    await picture(second, 'notifications-browser');
    const tokens = await machine.run(['tokens', 'list', '--json']);
    expect(JSON.parse(tokens.stdout)).toMatchObject({ name: 'My phone' });

    // Push is switched off: no message is sent, and the reason is reported.
    await first.page.reload();
    await openSettings(first, key);
    await setPush(false);
    await scrollTo(first, 'Push notifications');
    await picture(first, 'notifications-off');
    const ready = await notify('ready', '--session', 's1', '--title', 'Fix the build');
    expect(ready.outcomes).toContainEqual(
      expect.objectContaining({ state: 'suppressed', reason: 'push-disabled' }),
    );
    expect(service.received).toEqual([]);

    // Push is switched on: the question arrives in the second browser.
    await setPush(true);
    const request = ['--session', 's1', '--title', 'Fix the build', '--request', 'r1'];
    const tool = ['--tool', 'Bash', '--command', 'npm test'];
    const sent = await notify('permission-request', ...request, ...tool);
    expect(sent.outcomes).toContainEqual(expect.objectContaining({ state: 'sent' }));
    await deliver();
    const notification = await waitFor('the question', () =>
      desktop.notifications.find(({ title }) => title === 'Permission needed: Fix the build'),
    );
    expect(notification.body).toContain('npm test');

    // The question is answered on another device, and its notification is replaced without a sound.
    const question = (await listed()).find(({ title }) => title !== 'Gatehouse test');
    expect(question).toMatchObject({ title: 'Permission needed: Fix the build', silent: false });
    const resolved = await notify('resolve', '--request', 'r1');
    expect(resolved.outcomes).toMatchObject([{ state: 'sent' }]);
    await deliver();
    await waitFor('the answer', () =>
      desktop.notifications.some(({ title }) => title === 'Answered'),
    );
    expect(await listed()).toContainEqual({ title: 'Answered', silent: true, tag: question?.tag });
    expect(await listed()).not.toContainEqual(question);
    expect([...first.browserErrors, ...second.browserErrors]).toEqual([]);
    expect(service.refusals).toEqual([]);
  });
});
