import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { Notifying } from '../../fixtures/notify-fixture.js';
import { call } from '../../helpers/client.js';

const [MINE, OLD_APP, ATTACKER] = ['mine', 'old-app', 'attacker'].map(
  (name) => `ExponentPushToken[${name}]`,
) as [string, string, string];
const ASK = ['permission-request', '--session', 's', '--title', 'Secret', '--request', 'r'];
const COMMAND = ['--command', 'cat /secret'];
const GENERIC = 'Something needs your permission to go on.';

let fixture: Notifying;

const server = await startServer();
afterAll(() => server.stop());
beforeEach(async () => {
  fixture = await Notifying.start(server);
});
afterEach(() => fixture.stop());

/** The pushes of one event, by token. */
async function pushesOf(id: string, ...more: string[]): Promise<Record<string, string>> {
  const before = fixture.push.accepted.length;
  await fixture.notify(0, ...ASK, ...COMMAND, '--id', id, ...more);
  const sent = fixture.push.accepted.slice(before);
  const asked = sent.filter(({ data }) => data?.['sessionId'] === 's');
  return Object.fromEntries(asked.map(({ to, title, body }) => [to, `${title}: ${body}`]));
}

const announced = () =>
  fixture.push.accepted.filter(({ data }) => data?.['sessionId'] === 'gatehouse-receivers');

/** Replaces the settings by a text of another app, as the server can. */
async function hideSettings(): Promise<void> {
  const { token } = fixture.session;
  const { body } = await call(server, 'GET', '/v2/account/settings', { token });
  const content = { t: 'encrypted', c: 'of another app' };
  const write = { content, expectedVersion: body['version'] };
  await call(server, 'POST', '/v2/account/settings', { token, body: write });
}

const add = (token: string) =>
  fixture.user.run(['tokens', 'add', token], {
    ...fixture.env,
    CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION: '1',
  });

describe('receivers that a device with the key confirmed', () => {
  it('sends no text to one that a stolen session added, and announces it to the others once', async () => {
    expect((await add(MINE)).code).toBe(0);
    await fixture.registerToken(ATTACKER);
    const first = await pushesOf('one');
    expect(first[MINE]).toContain('cat /secret');
    expect(first[ATTACKER]).toBe(`Permission needed: ${GENERIC}`);
    expect(announced()).toMatchObject([{ to: MINE, body: expect.stringContaining('confirmed') }]);
    await pushesOf('two');
    expect(announced()).toHaveLength(1);
    const rows = await fixture.ok<{ token: string; showsText: boolean }>('tokens', 'list');
    expect(rows.map(({ token, showsText }) => [token, showsText])).toEqual([
      [ATTACKER, false],
      [MINE, true],
    ]);
  });

  it('sends no text to others with a local settings file either, also if the server hides the list', async () => {
    await add(MINE);
    await fixture.registerToken(ATTACKER);
    const file = join(fixture.user.home, 'settings.json');
    writeFileSync(file, '{"notificationsSettingsV1": {"v": 1}}');
    const sent = await pushesOf('one', '--settings-file', file);
    expect(sent[MINE]).toContain('cat /secret');
    expect(sent[ATTACKER]).toBe(`Permission needed: ${GENERIC}`);
    await hideSettings();
    const hidden = await pushesOf('two', '--settings-file', file);
    expect(new Set(Object.values(hidden))).toEqual(new Set([`Permission needed: ${GENERIC}`]));
  });

  it('announces new ones at most once a day', async () => {
    await add(MINE);
    await fixture.registerToken(ATTACKER);
    await pushesOf('one');
    await fixture.registerToken(OLD_APP);
    await pushesOf('two');
    expect(announced()).toHaveLength(1);
    const directory = join(fixture.stateHome, 'gatehouse', 'accounts');
    const name = readdirSync(directory).find((one) => one.endsWith('.receivers.json')) ?? '';
    const stored = JSON.parse(readFileSync(join(directory, name), 'utf8')) as object;
    writeFileSync(
      join(directory, name),
      JSON.stringify({ ...stored, at: Date.now() - 86_400_001 }),
    );
    await pushesOf('three');
    expect(announced()).toHaveLength(2);
  });

  it('asks the person for the first choice, where there are older ones', async () => {
    await fixture.registerToken(OLD_APP);
    await fixture.registerToken(ATTACKER);
    expect((await add(MINE)).stdout).toContain(MINE);
    const all = await pushesOf('one');
    expect(Object.values(all).every((one) => one.includes('cat /secret'))).toBe(true);
    const { code, stderr } = await fixture.user.run(
      ['tokens', 'confirm'],
      fixture.env,
      'y\nn\ny\n',
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining('Is this your device')]);
    const after = await pushesOf('two');
    expect(after[MINE]).toContain('cat /secret');
    expect(after[OLD_APP]).toContain('cat /secret');
    expect(after[ATTACKER]).toBe(`Permission needed: ${GENERIC}`);
    await fixture.ok('tokens', 'confirm', ATTACKER);
    expect((await pushesOf('three'))[ATTACKER]).toContain('cat /secret');
  });

  it('sends no text to one that was removed and added again', async () => {
    await add(MINE);
    await fixture.registerToken(OLD_APP);
    await fixture.ok('tokens', 'confirm', OLD_APP);
    await fixture.ok('tokens', 'remove', OLD_APP);
    await fixture.registerToken(OLD_APP);
    expect((await pushesOf('one'))[OLD_APP]).toBe(`Permission needed: ${GENERIC}`);
  });

  it('refuses to confirm without the key of the account', async () => {
    await add(MINE);
    const { token } = fixture.session;
    const thief = await createCliUser();
    const env = { GATEHOUSE_TOKEN: token, GATEHOUSE_SERVER: server.url };
    const { code, stderr } = await thief.run(['tokens', 'confirm', MINE, '--json'], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining('no-device-key')]);
    const { stdout } = await thief.run(['tokens', 'list', '--json'], env);
    expect(JSON.parse(stdout)).toMatchObject({ token: MINE, showsText: null });
  });
});
