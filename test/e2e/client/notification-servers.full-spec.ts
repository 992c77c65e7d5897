import { DeviceKey } from '../../../src/packages/client/crypto/device-key.js';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
import type { NotificationRoute } from '../../../src/packages/client/notifications/notification-routing.js';
import { Asker } from '../../fixtures/asker-fixture.js';
import { inChromium, useChromium } from '../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { bundleClient } from '../../helpers/client-bundle.js';

const home = await startServer();
const other = await startServer();
afterAll(() => Promise.all([home.stop(), other.stop()]));
const visit = useChromium();

/** An app in a browser: it follows the route of a pressed Allow, and says what it opened and sent. */
const APP = `async (device, account, asked) => {
  const kit = gatehouse;
  const { bytes } = await kit.DeviceKey.fromSecret(account.secret);
  const client = new kit.GatehouseClient({ serverUrl: asked.server, token: account.token });
  const requests = new kit.AccountRequests(kit.requestKeys(bytes), account.id);
  const target = kit.readNotificationTarget(asked.data);
  const accountAt = async (url) => (kit.isSameServer(url, asked.server) ? { client, requests } : null);
  const press = () =>
    kit.answerFromNotification('allow', target, device, accountAt, asked.displayed);
  const first = await press();
  if (first.step !== 'open') return { first, opened: null };
  const { step, prefilledUrl, destination } = first.route;
  // The person confirms the address that the settings of servers show.
  const added = step === 'add-server' ? prefilledUrl : destination.serverUrl;
  const next = step === 'add-server' ? kit.continueAfterAdding(destination, added) : destination;
  const saved = [...device.saved, added];
  const isKnownServer = (url) => kit.isKnownServer(url, { active: added, saved });
  const found = await kit.openRequest(client.requests, next.requestId, { requests, isKnownServer });
  return { first, opened: { kind: found.kind, command: found.request?.tool.input.command } };
}`;

inChromium('Events 8: a notification of another server, the whole way in an app', () => {
  async function press(device: (home: string, other: string) => object) {
    const key = await DeviceKey.generate();
    const { token, accountId } = await new GatehouseClient({ serverUrl: other.url }).signUp(key);
    const account = { token, id: accountId, secret: key.secret };
    const asker = new Asker(other, { token, account: accountId, secret: key.bytes });
    const asked = await asker.ask();
    const { requestId, session } = asked.request;
    const ids = { serverUrl: other.url, sessionId: session.id, requestId, digest: asked.digest };
    const data = { topic: 'permission_request', ...ids };
    const displayed = {
      title: 'Permission needed: Fix the build',
      subtitle: 'Bash',
      body: 'Bash needs your permission: npm test',
      isAuthenticated: true,
    };
    // A page of another origin, whose policy the app does not have.
    const { page } = await visit(`${home.url}/livez`, { bypassCSP: true });
    await page.addScriptTag({ content: (await bundleClient()).script });
    const servers = device(home.url, other.url);
    const given = [servers, account, { server: other.url, data, displayed }];
    const result = await page.evaluate<{
      first: { step: string; route?: NotificationRoute };
      opened: { kind: string; command: string } | null;
    }>(`(${APP})(...${JSON.stringify(given)})`);
    return { ...result, decision: (await asker.judge(asked)).decision };
  }

  it('switches to a saved server, and sends the answer there', async () => {
    const { first, decision } = await press((active, saved) => ({
      active,
      saved: [active, saved],
    }));
    expect(first).toEqual({ step: 'allowed' });
    expect(decision).toMatchObject({ choice: 'allow', isSigned: true });
  });
});
