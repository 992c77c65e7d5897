import { DeviceKey } from '../../../../src/packages/client/crypto/device-key.js';
import {
  AccountContent,
  changeSettings,
  GatehouseClient,
  MemoryPins,
} from '../../../../src/packages/client/index.js';
import { readWebPushToken } from '../../../../src/packages/client/notifications/web-push.js';
import { hasDbus } from '../../../fixtures/programs/desktop-fixture.js';
import {
  deliverPush,
  giveWorkerTime,
  hasChromium,
  leavePage,
  listNotifications,
  visitIn,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import { createAccount, open, sees as seesIn } from '../account-page-acts.js';
import { PushBrowser } from '../push-browser.js';
import {
  openSettingsOf,
  pushTokensOf,
  registerIn,
  sendTo,
  sessionOf,
  signUpToStay,
  unlockSettings,
} from '../push-acts.js';

const server = await startServer();
afterAll(async () => {
  await server.stop();
});

const canClick = hasChromium() && hasDbus();

(canClick ? describe : describe.skip)('notifications in the browser', () => {
  let push: PushBrowser;
  let visitor: Visitor;

  beforeAll(async () => {
    push = await PushBrowser.start();
  });
  afterAll(() => push.close());
  beforeEach(async () => {
    visitor = await visitIn(push.context, 'about:blank');
  });
  afterEach(async () => {
    await push.forget(visitor.page, server.url);
    await visitor.close();
    expect(visitor.browserErrors).toEqual([]);
  });

  const sees = (words: string) => seesIn(visitor, words);

  /** Signs up on the page. @returns the account's key */
  async function signUp(at: Server = server): Promise<DeviceKey> {
    const { page } = visitor;
    await page.goto(`${at.url}/app`);
    return DeviceKey.fromSecret(await createAccount(visitor));
  }

  const registerBrowser = (key: DeviceKey) => registerIn(visitor, key);
  const tokensOf = (at: Server = server) => pushTokensOf(visitor, at);
  const settingsOf = (key: DeviceKey, at: Server = server) => openSettingsOf(visitor, key, at);
  const send = (
    key: DeviceKey,
    fields: Record<string, unknown> = {},
    at: Server = server,
    preferences: object = {},
  ) => sendTo(visitor, push.sender, key, { fields, at, preferences });

  const decrypted = () => push.decrypted(visitor.page);

  const deliver = async (data?: string, { url }: Server = server): Promise<void> =>
    deliverPush(visitor.page, url, data ?? (await decrypted()));

  const listed = (): Promise<unknown> => listNotifications(push.context);
  const requestNotification = (words: string) => push.notification(words);

  it('registers this browser, shows what any sender sends, and opens a notification on a click', async () => {
    const key = await signUp();
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    await open(visitor, 'Devices and sessions');
    await sees('My browser');
    expect(await tokensOf()).toMatchObject([{ name: 'My browser', platform: 'web' }]);
    await visitor.press('Test… My browser');
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Show a test' }).click();
    push.desktop.click(await requestNotification('Gatehouse test'));
    await sees('gatehouse-test');
    expect(await settingsOf(key)).toEqual({
      receivers: [expect.any(String)],
      notificationsWebPushV1: expect.objectContaining({ v: 1, publicKey: expect.any(String) }),
    });
    expect(await send(key)).toMatchObject([{ state: 'no-target' }, { state: 'sent' }]);
    await deliver();
    const notification = await requestNotification('Fix the build');
    expect(notification.body).toContain('npm test');
    expect(await listed()).toMatchObject([
      { title: notification.title, data: { topic: 'permission_request', sessionId: 'ses&1' } },
    ]);
    push.desktop.click(notification);
    await sees('A permission request waits.');
    await sees('req/1');
    expect(await visitor.text()).toContain('ses&1');
    expect(await listed()).toEqual([]);
  });

  it('opens the request in the app, where the operator has configured its address', async () => {
    const app = `${server.url}/livez/{sessionId}?request={requestId}`;
    const other = await startServer({ env: { SERVICE_NOTIFICATION_REQUEST_URL: app } });
    try {
      const key = await signUp(other);
      await registerBrowser(key);
      await sees('This browser now shows your notifications.');
      const request = { session: { sessionId: 'ses&1', title: 'In the app' } };
      await send(key, request, other);
      await deliver(undefined, other);
      const notification = await requestNotification('In the app');
      const opened = push.context.waitForEvent('page');
      push.desktop.click(notification);
      const window = await opened;
      await waitFor('the address', () => window.url().startsWith('http'));
      expect(window.url()).toBe(`${server.url}/livez/ses%261?request=req%2F1`);
    } finally {
      await visitor.page.goto('about:blank');
      await other.stop();
    }
  });

  it('opens the page on a click when no window shows it', async () => {
    const key = await signUp();
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    await send(key, { session: { sessionId: 'ses-2', title: 'The page is closed' } });
    await deliver();
    const notification = await requestNotification('The page is closed');
    await leavePage(visitor);
    const opened = push.context.waitForEvent('page');
    push.desktop.click(notification);
    const page = await opened;
    await page.getByText('A permission request waits.').waitFor();
    await page.getByText('ses-2').waitFor();
    expect(page.url()).toBe(`${server.url}/app/`);
  });

  async function askingAccount() {
    const { key, asker } = await signUpToStay(visitor, server);
    const ask = async (title: string, topic = 'permission_request') => {
      const { requestId } = (await asker.ask()).request;
      const request = { requestId, toolName: 'Bash' };
      await send(key, { topic, session: { sessionId: requestId, title }, request });
      return { requestId, message: await decrypted() };
    };
    return { asker, ask };
  }

  it('opens the request by “Allow”, and the question by “Answer” (Events 5 and 7), and answers nothing it cannot check', async () => {
    const { asker, ask } = await askingAccount();
    const answersTo = async (id: string) => (await asker.routes.read(id)).answers;
    const open = await ask('Allow, page open');
    const closed = await ask('Allow, page closed');
    const question = await ask('A question', 'user_action_request');
    await deliver(open.message);
    const first = await requestNotification('Allow, page open');
    expect(first.actions).toEqual(expect.arrayContaining(['Allow', 'Deny']));
    push.desktop.click(first, 'Allow');
    await sees('Not allowed yet');
    expect(visitor.page.url()).toContain(open.requestId);
    await deliver(question.message);
    const second = await requestNotification('A question');
    expect(second.actions).not.toEqual(expect.arrayContaining(['Allow']));
    push.desktop.click(second, 'Answer');
    await visitor.page.waitForURL(`**/*${question.requestId}`);
    await deliver(closed.message);
    const third = await requestNotification('Allow, page closed');
    await leavePage(visitor);
    const opened = push.context.waitForEvent('page');
    push.desktop.click(third, 'Allow');
    const page = await opened;
    await page.getByText('Not allowed: this page cannot show the request.').waitFor();
    expect(page.url()).toContain(closed.requestId);
    expect([await answersTo(open.requestId), await answersTo(closed.requestId)]).toEqual([[], []]);
  });

  it('denies a request by the button of its notification, whether the page is open or not', async () => {
    const { asker, ask } = await askingAccount();
    const denied = (id: string) =>
      waitFor('the denial', async () => (await asker.routes.read(id)).answers[0]);
    const open = await ask('Page open');
    const closed = await ask('Page closed');
    await deliver(open.message);
    const first = await requestNotification('Page open');
    push.desktop.click(first, 'Deny');
    await sees('The request is denied.');
    expect(await denied(open.requestId)).toMatchObject({ deny: true });
    await deliver(closed.message);
    const second = await requestNotification('Page closed');
    await leavePage(visitor);
    const opened = push.context.waitForEvent('page');
    push.desktop.click(second, 'Deny');
    await (await opened).getByText('The request is denied.').waitFor();
    expect(await denied(closed.requestId)).toMatchObject({ deny: true });
  });

  it('shows notifications silently or not at all while the page is open, as the account chose', async () => {
    const key = await signUp();
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    const behavior = (foregroundBehavior: string) => ({
      notificationsSettingsV1: { foregroundBehavior },
    });
    const one = (title: string) => ({
      session: { sessionId: title, title },
      request: { requestId: title, toolName: 'Bash' },
    });
    await send(key, one('Loud'), server, behavior('full'));
    await deliver();
    await send(key, one('Hidden'), server, behavior('off'));
    await deliver();
    await send(key, one('Quiet'), server, behavior('silent'));
    await deliver();
    // The worker searched for windows for the two earlier messages, too.
    await requestNotification('Quiet');
    await send(key, one('Away'), server, behavior('off'));
    const away = await decrypted();
    await leavePage(visitor);
    await deliver(away);
    await requestNotification('Away');
    const all = (await listed()) as { data: { sessionId: string }; silent: boolean }[];
    const read = all.map(({ data, silent }) => `${data.sessionId} ${String(silent)}`);
    expect(read.sort()).toEqual(['Away false', 'Loud false', 'Quiet true']);
  });

  it('hides notifications of the session on screen, and replaces each by the next of its request', async () => {
    const key = await signUp();
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    const inSession = (sessionId: string, id: string) => ({
      session: { sessionId, title: `Session ${sessionId}` },
      request: { requestId: 'r', toolName: 'Bash' },
      id,
    });
    await send(key, inSession('seen', 'first'));
    await deliver();
    await deliver();
    const [, again] = await waitFor('both', () => {
      const both = push.desktop.notifications.filter(({ title }) => title.includes('Session seen'));
      return both.length === 2 && both;
    });
    expect(await listed()).toHaveLength(1);
    await giveWorkerTime(push.context);
    push.desktop.click(again!);
    await sees('A permission request waits.');
    const count = push.desktop.notifications.length;
    await send(key, inSession('seen', 'second'));
    await deliver();
    await send(key, inSession('other', 'third'));
    await deliver();
    await requestNotification('Session other');
    expect(push.desktop.notifications.slice(count).map(({ title }) => title)).toEqual([
      expect.stringContaining('Session other'),
    ]);
    await visitor.press('Dismiss');
    await send(key, inSession('seen', 'fourth'));
    await deliver();
    await waitFor('the session again', () => push.desktop.notifications.length === count + 2);
  });

  it('hides what a request asks for where the switch of this device is off (Notification preferences)', async () => {
    const key = await signUp();
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    const here = visitor.page.getByRole('switch', { name: 'Show on this device' });
    const titled = (title: string) => ({ session: { sessionId: 'ses-1', title } });
    await here.click();
    await waitFor('the switch', async () => !(await here.isChecked()));
    await visitor.page.reload();
    await unlockSettings(visitor, key.secret);
    await waitFor('the switch', async () => !(await here.isChecked()));
    await send(key, titled('Hidden here'));
    await deliver();
    const hidden = await requestNotification('Hidden here');
    expect(hidden.body).toContain('Something needs your permission to go on.');
    expect(hidden.body).not.toContain('npm test');
    await here.click();
    await waitFor('the switch', () => here.isChecked());
    await send(key, titled('Shown here'));
    await deliver();
    expect((await requestNotification('Shown here')).body).toContain('npm test');
  });

  it('reports in this browser that the account sends none, and how to turn them off here alone', async () => {
    await registerBrowser(await signUp());
    // The badge may come first, with a live update.
    await sees('This browser now shows your notifications.');
    await sees('This browser shows your notifications');
    await visitor.page.getByRole('switch', { name: 'Send push notifications' }).click();
    await sees('Push notifications are off, so none arrive here');
    expect(await visitor.text()).not.toMatch(/This browser (now )?shows your notifications/);
    const browser = visitor.page.getByRole('region', { name: 'This browser' });
    await browser.getByRole('link', { name: 'Devices and sessions' }).click();
    await visitor.page.getByRole('button', { name: 'Remove: My browser' }).waitFor();
  });

  it('says that this browser blocks notifications when it takes the permission while the page is open', async () => {
    await registerBrowser(await signUp());
    await sees('This browser shows your notifications');
    const devTools = await push.context.newCDPSession(visitor.page);
    const permission = { name: 'notifications' };
    const denied = { permission, setting: 'denied', origin: server.url } as const;
    await devTools.send('Browser.setPermission', denied);
    await sees('This browser blocks notifications of this page.');
    await devTools.send('Browser.resetPermissions');
    await push.context.grantPermissions(['notifications']);
    await sees('This browser shows your notifications');
  });

  it('asks to turn notifications on again where the settings have lost the key of this browser', async () => {
    const key = await signUp();
    await registerBrowser(key);
    await sees('This browser shows your notifications');
    const [lost] = await tokensOf();
    const { token, accountId } = await sessionOf(visitor);
    const content = new AccountContent(key.bytes, accountId);
    const client = new GatehouseClient({ serverUrl: server.url, token });
    const access = { content, pins: new MemoryPins() };
    await changeSettings(client, access, (fields) => ({ ...fields, notificationsWebPushV1: null }));
    await registerBrowser(key);
    await sees('This browser shows your notifications');
    // The page shows the new device first, and then removes the former.
    const [kept] = await waitFor('one device', async () => {
      const tokens = await tokensOf();
      return tokens.length === 1 && tokens;
    });
    expect(kept).toMatchObject({ name: 'My browser' });
    expect(kept?.token).not.toBe(lost?.token);
    expect(await send(key)).toMatchObject([{ state: 'no-target' }, { state: 'sent' }]);
  });

  it('says that the server does not answer where the service worker cannot be loaded', async () => {
    const key = await signUp();
    const failed = { status: 502, body: 'Bad gateway' };
    await push.context.route('**/app/worker.js', (route) => route.fulfill(failed));
    await registerBrowser(key);
    await sees('The server does not answer.');
    await push.context.unroute('**/app/worker.js');
    await visitor.press('Turn on in this browser');
    await sees('This browser now shows your notifications.');
  });

  it('shows a generic notification when the data is not a message', async () => {
    const key = await signUp();
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    const noTarget = '{"title":"x","body":"y","tag":"z","target":{"topic":"ready"}}';
    for (const data of ['', 'no JSON', '{}', noTarget]) {
      const count = push.desktop.notifications.length;
      await deliver(data);
      await waitFor(`a notification of ${data}`, () => push.desktop.notifications.length > count);
      expect(push.desktop.notifications.at(-1)?.body).toContain('Something waits for you.');
    }
  });

  it('stops notifications when the registration ends, on the page or at the push service', async () => {
    const key = await signUp();
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    await visitor.page.reload();
    await open(visitor, 'Devices and sessions');
    await sees('This browser');
    const [own] = await tokensOf();
    await visitor.press('Remove: My browser');
    await sees('That device gets no more notifications.');
    expect(await tokensOf()).toEqual([]);
    expect(await visitor.page.evaluate("localStorage.getItem('test.subscription')")).toBeNull();
    const endpoint = readWebPushToken(own?.token ?? '')?.endpoint ?? '';
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    const [again] = await tokensOf();
    expect(again?.token).not.toBe(own?.token);
    expect(push.service.messagesOf(endpoint)).toEqual([]);
    expect(await send(key)).toMatchObject([{ state: 'no-target' }, { state: 'sent' }]);
  });

  it('says when the browser has renewed its subscription, and asks to turn notifications on again', async () => {
    const { key } = await signUpToStay(visitor, server);
    await push.renewSubscription(visitor.page);
    await requestNotification('gets no more notifications');
    await visitor.page.reload();
    await registerBrowser(key);
    await sees('This browser now shows your notifications.');
    // Senders remove the former one, once the push service has refused it.
    expect(await tokensOf()).toHaveLength(2);
  });
});
