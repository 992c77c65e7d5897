import type { AgentRequest } from '../../../../src/core/protocol/agent-request.js';
import { eventOf } from '../../../../src/apps/cli/approvals/notice.js';
import type { Asker } from '../../../fixtures/asker-fixture.js';
import { FAKE_PASSKEYS } from '../../../fakes/passkeys.js';
import {
  deliverPush,
  hasChromium,
  leavePage,
  visitIn,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { hasDbus } from '../../../fixtures/programs/desktop-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { createAccount, sees, seesSignIn } from '../account-page-acts.js';
import { PushBrowser } from '../push-browser.js';
import { sendTo, signUpToStay } from '../push-acts.js';
import { openRequests } from '../request-page-acts.js';

/** At a host name, because browsers allow no passkeys at an IP address. */
const named = (one: Server): Server => ({ ...one, url: `http://localhost:${one.port}` });

const server = named(await startServer());
afterAll(() => server.stop());

const ALLOWED = 'Allowed by the button of the notification';
const canRun = hasChromium() && hasDbus();

/** Push service and passkeys are of the tests; the clicks reach Chromium through D-Bus. */
(canRun ? describe : describe.skip)('Events 7: Allow under a notification, on the page', () => {
  let push: PushBrowser;
  let visitor: Visitor;

  beforeAll(async () => {
    push = await PushBrowser.start();
    await push.context.addInitScript(FAKE_PASSKEYS);
  });
  afterAll(() => push.close());
  afterEach(async () => {
    await push.forget(visitor.page, server.url);
    await visitor.close();
    expect(visitor.browserErrors).toEqual([]);
  });

  interface Rung {
    readonly id: string;
    /** The answer that the asking computer takes. */
    readonly decision: () => Promise<unknown>;
    /** Presses a button of the notification. */
    readonly press: (button?: string) => void;
  }

  /**
   * Asks, and delivers the push of the command to the browser.
   * @param alter changes the decrypted message
   */
  type Ring = (change?: Partial<AgentRequest>, alter?: Alter) => Promise<Rung>;

  type Alter = (message: { body: string; target: Record<string, unknown> }) => void;

  let count = 0;

  /** A person whose browser shows notifications, and keeps the keys for requests. */
  async function startPerson(withPasskey = true): Promise<Ring> {
    visitor = await visitIn(push.context, 'about:blank');
    const { key, asker } = await signUpToStay(visitor, server);
    await openRequests(visitor);
    const confirm = visitor.page.getByLabel('Confirm each “Allow” with a passkey');
    await (withPasskey ? confirm.check() : confirm.uncheck());
    await visitor.press('Keep the keys in this browser');
    await sees(visitor, withPasskey ? 'Kept, with a passkey' : 'This browser keeps the keys');
    return async (change = {}, alter = () => undefined) => {
      const { asked, title } = await askIn(asker, change);
      const { requestId: id } = asked.request;
      const fields = { ...eventOf(asked.request, asked.digest) };
      await sendTo(visitor, push.sender, key, { fields, at: server, preferences: {} });
      const message = JSON.parse(await push.decrypted(visitor.page)) as Parameters<Alter>[0];
      alter(message);
      await deliverPush(visitor.page, server.url, JSON.stringify(message));
      const notification = await push.notification(title);
      return {
        id,
        decision: async () => (await asker.judge(asked)).decision,
        press: (button = 'Allow') => push.desktop.click(notification, button),
      };
    };
  }

  async function askIn(asker: Asker, change: Partial<AgentRequest>) {
    count += 1;
    const title = `Session ${count}.`;
    return { title, asked: await asker.ask({ session: { id: `s${count}`, title }, ...change }) };
  }

  it('sends what the notification showed whole, once the passkey has verified the person, and says so', async () => {
    const ring = await startPerson();
    const { press, decision, id } = await ring();
    press();
    await sees(visitor, ALLOWED);
    expect(visitor.page.url()).toContain(id);
    await sees(visitor, 'npm test');
    expect(await decision()).toMatchObject({ choice: 'allow', isSigned: true });
  });

  it('sends it also where the button opens the page', async () => {
    const ring = await startPerson();
    const { press, decision } = await ring();
    await leavePage(visitor);
    const opened = push.context.waitForEvent('page');
    press();
    await (await opened).getByText(ALLOWED).waitFor();
    expect(await decision()).toMatchObject({ choice: 'allow', isSigned: true });
  });

  it('sends it after the worker was killed between the push and the button', async () => {
    const ring = await startPerson();
    const { press, decision } = await ring();
    await killWorkers(visitor);
    press();
    await sees(visitor, ALLOWED);
    expect(await decision()).toMatchObject({ choice: 'allow', isSigned: true });
  });

  it('sends nothing where the passkey does not verify the person', async () => {
    const ring = await startPerson();
    const { press, decision } = await ring();
    await visitor.page.evaluate("localStorage.setItem('test.person', 'refused')");
    press();
    await sees(visitor, 'The passkey was not used.');
    await visitor.page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    expect(await decision()).toBeNull();
  });

  it('opens the request and waits for a notification with a masked text', async () => {
    const ring = await startPerson();
    const { press, decision, id } = await ring(
      { tool: { name: 'Bash', input: { command: 'mysql --password=hunter2hunter2 -e x' } } },
      ({ body }) => expect(body).toContain('[masked]'),
    );
    press();
    await sees(visitor, 'showed another text than this request');
    expect(visitor.page.url()).toContain(id);
    await visitor.page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    expect(await decision()).toBeNull();
  });

  it('opens the request and waits where no passkey says who pressed the button, page open or not', async () => {
    const ring = await startPerson(false);
    const first = await ring();
    first.press();
    await sees(visitor, 'a browser does not say who pressed the button');
    const second = await ring();
    await leavePage(visitor);
    const opened = push.context.waitForEvent('page');
    second.press();
    const page = await opened;
    // The reason comes after all others: a page that the button opened knows the whole notification.
    await page.getByText('a browser does not say who pressed the button').waitFor();
    expect([await first.decision(), await second.decision()]).toEqual([null, null]);
  });

  it('sends nothing for a notification of another server, and names that server', async () => {
    const ring = await startPerson();
    const elsewhere: Alter = ({ target }) => (target['serverUrl'] = 'https://other.example');
    for (const button of ['Allow', 'Deny']) {
      const { press, decision } = await ring({}, elsewhere);
      press(button);
      await sees(visitor, 'It is of another server, so nothing was sent.');
      await sees(visitor, 'https://other.example');
      expect(await decision()).toBeNull();
      await visitor.press('Dismiss');
    }
  });

  it('sends nothing in the name of the next account of the browser', async () => {
    const ring = await startPerson();
    const { press } = await ring();
    await visitor.press('Sign out');
    await seesSignIn(visitor);
    await visitor.page.evaluate("location.hash = ''");
    await createAccount(visitor);
    press();
    await sees(visitor, 'This request no longer exists');
    expect(await visitor.text()).not.toContain(ALLOWED);
  });

  /** Ends all service workers, as browsers do between two events. */
  async function killWorkers({ page }: Visitor): Promise<void> {
    const devTools = await page.context().newCDPSession(page);
    const stopped = new Promise<void>((done) => {
      devTools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
        if (versions.some(({ runningStatus }) => runningStatus === 'stopped')) {
          done();
        }
      });
    });
    await devTools.send('ServiceWorker.enable');
    await devTools.send('ServiceWorker.stopAllWorkers');
    await stopped;
    await devTools.detach();
  }
});
