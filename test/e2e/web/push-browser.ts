import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { WebPushSender } from '../../../src/packages/notify/push/web-push.sender.js';
import { FAKE_PUSH_MANAGER } from '../../fakes/push-manager.js';
import { FakeWebPushService } from '../../fakes/web-push-service.js';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import {
  NotificationDaemon,
  type DesktopNotification,
} from '../../fixtures/programs/desktop-fixture.js';
import { startProfile } from '../../fixtures/programs/browser-fixture.js';
import { waitFor } from '../../helpers/wait.js';

/** A Chromium that shows notifications, which come through the push service of the tests. */
export class PushBrowser {
  private constructor(
    readonly context: BrowserContext,
    readonly desktop: NotificationDaemon,
    readonly service: FakeWebPushService,
    readonly sender: WebPushSender,
  ) {}

  static async start(): Promise<PushBrowser> {
    const directory = certificateDirectory();
    const authority = TestAuthority.root(directory, 'Root');
    const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
    const service = await FakeWebPushService.start(certificate);
    const desktop = await NotificationDaemon.start();
    const variables = { DBUS_SESSION_BUS_ADDRESS: desktop.address };
    const context = await startProfile(join(directory, 'profile'), variables);
    await context.grantPermissions(['notifications']);
    await context.exposeFunction('subscribeAtService', (key: string) =>
      service.subscribe(Buffer.from(key, 'base64').toString('base64url')),
    );
    await context.exposeFunction('unsubscribeAtService', (endpoint: string) =>
      service.expire(endpoint),
    );
    await context.addInitScript(FAKE_PUSH_MANAGER);
    const sender = new WebPushSender({ ca: authority.cert, privateHosts: ['127.0.0.1'] });
    return new PushBrowser(context, desktop, service, sender);
  }

  /** Returns the newest message that the page of this tab received, as the browser decrypts it. */
  async decrypted(page: Page): Promise<string> {
    const kept = await page.evaluate("localStorage.getItem('test.subscription')");
    const { endpoint } = JSON.parse(String(kept)) as { endpoint: string };
    return this.service.messagesOf(endpoint).at(-1) ?? '';
  }

  /** Replaces the subscription, as browsers do by themselves. The worker gets an event like that of the browser. */
  async renewSubscription(page: Page): Promise<void> {
    await page.evaluate(`(async () => {
      const { key } = JSON.parse(localStorage.getItem('test.subscription'));
      const renewed = { ...(await subscribeAtService(key)), key };
      localStorage.setItem('test.subscription', JSON.stringify(renewed));
    })()`);
    // Only a real event waits for what its listener does.
    await this.context.serviceWorkers().at(-1)?.evaluate(`
      ExtendableEvent.prototype.waitUntil = () => undefined;
      self.dispatchEvent(new ExtendableEvent('pushsubscriptionchange'));`);
  }

  /** Waits for a notification with these words in its title. */
  notification(words: string): Promise<DesktopNotification> {
    return waitFor(`a notification of ${words}`, () =>
      this.desktop.notifications.find(({ title }) => title.includes(words)),
    );
  }

  /** Removes the data of these addresses, for the next test. */
  async forget(page: Page, ...urls: readonly string[]): Promise<void> {
    // The empty tab of the start stays open, because its process serves the tabs of all tests.
    const [, ...tabs] = this.context.pages();
    for (const other of tabs.filter((one) => one !== page)) {
      await other.close();
    }
    for (const url of urls) {
      await page.goto(`${url}/app/`);
      await page.evaluate(`(async () => {
        localStorage.clear();
        for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
      })()`);
    }
  }

  async close(): Promise<void> {
    await this.context.close();
    await Promise.all([this.desktop.close(), this.service.close(), this.sender.close()]);
  }
}
