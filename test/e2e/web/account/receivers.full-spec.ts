import {
  AccountContent,
  DeviceKey,
  GatehouseClient,
  isConfirmedReceiver,
  MemoryPins,
  readReceivers,
  readSettings,
} from '../../../../src/packages/client/index.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import { open, overflow, sees } from '../account-page-acts.js';
import { unlockSettings } from '../push-acts.js';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

inChromium('devices that show text', () => {
  const setUp = async (...names: readonly string[]) => {
    const key = await DeviceKey.generate();
    const session = await new GatehouseClient({ serverUrl: server.url }).signUp(key);
    const { token, accountId } = session;
    const client = new GatehouseClient({ serverUrl: server.url, token });
    const add = (name: string) => client.savePushToken(name, undefined, { name });
    for (const name of names) {
      await add(name);
    }
    const isConfirmed = async (token: string) => {
      const content = new AccountContent(key.bytes, accountId);
      const access = { content, pins: new MemoryPins() };
      return isConfirmedReceiver(readReceivers(await readSettings(client, access)), token);
    };
    const confirmed = async () => {
      const saved = (await client.pushTokens()).map((one) => one.token).sort();
      const answers = await Promise.all(saved.map(isConfirmed));
      return saved.filter((_, index) => answers[index]);
    };
    const visitor = await visit(`${server.url}/livez`);
    const stored = JSON.stringify(JSON.stringify({ token, accountId }));
    await visitor.page.evaluate(`sessionStorage.setItem('gatehouse.session', ${stored})`);
    await visitor.page.goto(`${server.url}/app/#notifications`);
    await unlockSettings(visitor, key.secret);
    return { visitor, add, isConfirmed, confirmed, key };
  };

  const confirm = async (visitor: Visitor, name: string): Promise<void> => {
    await visitor.page.getByLabel(name).check();
    await visitor.press('Show text on the ticked devices');
    // An earlier confirmation says the same.
    await visitor.page.getByRole('checkbox', { name }).waitFor({ state: 'detached' });
    await sees(visitor, 'The ticked devices now show text.');
  };

  it('shows the longest names on a phone of 320 pixels', async () => {
    const { visitor } = await setUp('W'.repeat(64), 'iPhone');
    await visitor.page.setViewportSize({ width: 320, height: 700 });
    await visitor.page.getByLabel('iPhone').waitFor();
    expect(await overflow(visitor)).toBe(0);
  });

  it('shows this browser before them, with the next step where it blocks notifications', async () => {
    const { visitor } = await setUp('ExponentPushToken[phone-one]');
    // The shell of Chromium blocks them.
    await sees(visitor, 'Allow them in its settings for this site');
    await sees(visitor, 'Devices that show text');
    const headings = await visitor.page.getByRole('heading', { level: 2 }).allInnerTexts();
    expect(headings).toEqual([
      ...['This browser', 'Push notifications', 'Devices that show text', 'Webhooks'],
    ]);
    expect(await visitor.text()).not.toContain('CLIENT_PUBLIC');
  });

  it('confirms those that the person ticks, names the others, and says why', async () => {
    const { visitor, add, confirmed } = await setUp('My phone', 'Attacker');
    await sees(visitor, 'No device is confirmed yet');
    expect(await confirmed()).toEqual(['Attacker', 'My phone']);
    await confirm(visitor, 'My phone');
    await sees(visitor, 'These devices are not confirmed');
    expect(await confirmed()).toEqual(['My phone']);
    expect(await visitor.page.getByRole('checkbox', { name: /My phone/ }).count()).toBe(0);
    await add('My tablet');
    await visitor.page.getByRole('checkbox', { name: /My tablet/ }).waitFor();
    await confirm(visitor, 'My tablet');
    expect(await confirmed()).toEqual(['My phone', 'My tablet']);
  });

  it('removes the confirmation of a device with the device, where the tab has the key', async () => {
    const { visitor, add, confirmed } = await setUp('My phone', 'Lost phone');
    await visitor.page.getByLabel('My phone').check();
    await confirm(visitor, 'Lost phone');
    await sees(visitor, 'Every device that notifies you is confirmed');
    await open(visitor, 'Devices and sessions');
    await visitor.press('Remove: Lost phone');
    await sees(visitor, 'That device gets no more notifications.');
    await add('Lost phone');
    expect(await confirmed()).toEqual(['My phone']);
  });

  it('removes it when the settings are opened, where the device was removed without the key', async () => {
    const { visitor, add, isConfirmed, confirmed, key } = await setUp('My phone', 'Lost phone');
    await visitor.page.getByLabel('My phone').check();
    await confirm(visitor, 'Lost phone');
    await visitor.page.goto(`${server.url}/app/#devices`);
    await visitor.page.reload();
    await visitor.press('Remove: Lost phone');
    await sees(visitor, 'That device gets no more notifications.');
    await open(visitor, 'Notifications');
    await unlockSettings(visitor, key.secret);
    await sees(visitor, 'Every device that notifies you is confirmed');
    // The page removes what is not saved: saved again before that, the device would stay confirmed.
    await waitFor('the shorter list', async () => !(await isConfirmed('Lost phone')));
    await add('Lost phone');
    expect(await confirmed()).toEqual(['My phone']);
  });
});
