import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { DEV_PUSH_VARIABLE } from '../../../../src/packages/client/notifications/notification-display.js';
import { DeviceKey } from '../../../../src/packages/client/crypto/device-key.js';
import { FAKE_PUSH_MANAGER } from '../../../fakes/push-manager.js';
import { FakeWebPushService } from '../../../fakes/web-push-service.js';
import { certificateDirectory, TestAuthority } from '../../../fixtures/certificates-fixture.js';
import {
  closeVisitor,
  hasChromium,
  startProfile,
  visitIn,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startDevelopmentPage } from '../../../fixtures/programs/development-page-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import type { Service } from '../../../fixtures/programs/service-process.js';
import { createAccount, open, sees } from '../account-page-acts.js';
import { pushTokensOf, registerIn } from '../push-acts.js';

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Root');

(hasChromium() ? describe : describe.skip)('a development build of the account page', () => {
  let server: Server;
  let browser: BrowserContext;
  let push: FakeWebPushService;
  let page: Service;
  let visitor: Visitor;

  beforeAll(async () => {
    const certificate = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
    [server, browser, push] = await Promise.all([
      startServer(),
      // The shell of Chromium takes no notifications.
      startProfile(join(directory, 'profile'), {}),
      FakeWebPushService.start(certificate),
    ]);
    await browser.grantPermissions(['notifications']);
    await browser.exposeFunction('subscribeAtService', (key: string) =>
      push.subscribe(Buffer.from(key, 'base64').toString('base64url')),
    );
    await browser.addInitScript(FAKE_PUSH_MANAGER);
  });
  afterEach(async () => {
    await closeVisitor(visitor);
    await page.stop();
  });
  afterAll(() => Promise.all([browser.close(), push.close(), server.stop()]));

  /** Signs up on the page of a build. @returns the account's key */
  async function signUp(variables: Readonly<Record<string, string>>): Promise<DeviceKey> {
    page = await startDevelopmentPage(server, variables);
    visitor = await visitIn(browser, `${page.url}/app/`);
    return DeviceKey.fromSecret(await createAccount(visitor));
  }

  it.each<Readonly<Record<string, string>>>([{}, { [DEV_PUSH_VARIABLE]: '0' }])(
    'offers no notifications of a build with %j',
    async (variables) => {
      await signUp(variables);
      await open(visitor, 'Notifications');
      await sees(
        visitor,
        'This is a development build, which does not register for notifications.',
      );
      const { page: tab } = visitor;
      expect(await tab.getByRole('button', { name: 'Turn on in this browser' }).count()).toBe(0);
      expect(await pushTokensOf(visitor, server)).toEqual([]);
    },
  );

  it('registers for notifications where its variable allows that', async () => {
    const key = await signUp({ [DEV_PUSH_VARIABLE]: '1' });
    await registerIn(visitor, key);
    await sees(visitor, 'This browser now shows your notifications.');
    expect(await pushTokensOf(visitor, server)).toMatchObject([
      { name: 'My browser', platform: 'web' },
    ]);
  });
});
