import { startLocalServer, type LocalServer } from '../../../../test/helpers/local-server.js';
import { AccountContent, ContentUnreadable } from '../crypto/account-content.js';
import type { Content } from '../../../core/protocol/content.js';
import { MemoryPins, type AccountPin } from './account-pin.js';
import { SettingsConflict, SettingsRefused, SettingsUnreadable } from './account-settings.js';
import { GatehouseClient } from '../api/api-client.js';
import { changeEncryption } from './encryption-change.js';

const ACCOUNT = '7f7c0c2e-4b0b-4a5e-9f63-3a1d7c1b7a52';
const content = new AccountContent(new Uint8Array(32).fill(7), ACCOUNT);
const ofAnotherKey = new AccountContent(new Uint8Array(32).fill(8), ACCOUNT);

interface Migration {
  readonly toMode: string;
  readonly expectedSettingsVersion: number;
  readonly settings: Content | null;
  readonly credentials: readonly { readonly service: string; readonly content: Content }[];
}

describe(changeEncryption.name, () => {
  let server: LocalServer;
  let client: GatehouseClient;
  let settings: { content: Content | null; version: number };
  let credentials: { service: string; content: Content; updatedAt: number }[];
  let migrations: Migration[];
  /** Migrations before which another client writes. */
  let conflicts: number;
  /** Another client adds it before the first of these. */
  let added: (typeof credentials)[number] | null;

  beforeEach(async () => {
    [settings, credentials, migrations] = [{ content: null, version: 0 }, [], []];
    [conflicts, added] = [0, null];
    server = await startLocalServer(({ url, body }) => {
      if (url.pathname === '/v2/account/settings') {
        return { status: 200, json: settings };
      }
      if (url.pathname === '/v1/account/credentials') {
        return { status: 200, json: { credentials } };
      }
      migrations.push(JSON.parse(body) as Migration);
      if (migrations.length > conflicts) {
        return { status: 200, json: { success: true } };
      }
      if (added !== null) {
        [credentials, added] = [[...credentials, added], null];
        return { status: 409, json: { statusCode: 409, code: 'migration-required', message: '' } };
      }
      settings = { ...settings, version: settings.version + 1 };
      const { content: currentContent, version: currentVersion } = settings;
      const current = { currentContent, currentVersion };
      return { status: 200, json: { success: false, error: 'version-mismatch', ...current } };
    });
    client = new GatehouseClient({ serverUrl: server.url, token: 'a-token' });
  });
  afterEach(() => server.close());

  const accessOf = (pin: AccountPin | null) => ({ content, pins: new MemoryPins(pin) });
  const PLAIN: AccountPin = { mode: 'plain', settings: null };
  const mark = (rev: number) => ({ rev, hash: 'A'.repeat(43) });

  it('seals everything that is plain, each value for its own purpose', async () => {
    settings = { content: { t: 'plain', v: { theme: 'dark' } }, version: 3 };
    credentials = [{ service: 'mail', content: { t: 'plain', v: 'secret' }, updatedAt: 1 }];
    const access = accessOf({ ...PLAIN, settings: mark(4) });
    await changeEncryption(client, access, 'e2ee');
    const [migration] = migrations;
    expect(migration).toMatchObject({ toMode: 'e2ee', expectedSettingsVersion: 3 });
    const sealed = migration?.settings as { readonly t: 'encrypted'; readonly c: string };
    const opened = content.openSettings(sealed.c);
    expect(opened).toMatchObject({ value: { theme: 'dark' }, mark: { rev: 5 } });
    expect(await access.pins.read()).toEqual({ mode: 'e2ee', settings: opened.mark });
    const [one] = migration?.credentials ?? [];
    const credential = one?.content as { readonly t: 'encrypted'; readonly c: string };
    expect(content.open('credential:mail', credential.c)).toBe('secret');
    expect(() => content.openSettings(credential.c)).toThrow(ContentUnreadable);
  });

  it('opens everything that is sealed, and leaves what is plain already', async () => {
    settings = { content: { t: 'encrypted', c: content.sealSettings(4, { a: 1 }) }, version: 1 };
    credentials = [{ service: 'mail', content: { t: 'plain', v: 'open' }, updatedAt: 7 }];
    const access = accessOf(null);
    await changeEncryption(client, access, 'plain');
    expect(await access.pins.read()).toMatchObject({ mode: 'plain', settings: { rev: 4 } });
    expect(migrations).toEqual([
      {
        ...{ toMode: 'plain', expectedSettingsVersion: 1 },
        settings: { t: 'plain', v: { a: 1 } },
        credentials: [{ service: 'mail', content: { t: 'plain', v: 'open' }, updatedAt: 7 }],
      },
    ]);
  });

  it('sends nothing where one value is of another key', async () => {
    const c = ofAnotherKey.sealSettings(1, { a: 1 });
    settings = { content: { t: 'encrypted', c }, version: 1 };
    const change = () => changeEncryption(client, accessOf(null), 'plain');
    await expect(change()).rejects.toThrow(SettingsUnreadable);
    settings = { content: null, version: 0 };
    const one = { t: 'encrypted', c: ofAnotherKey.seal('credential:mail', 1) } as const;
    credentials = [{ service: 'mail', content: one, updatedAt: 1 }];
    await expect(change()).rejects.toThrow(ContentUnreadable);
    expect(migrations).toEqual([]);
  });

  it.each<[string, AccountPin | null]>([
    ['of a device without a pin', null],
    ['of a device that expects sealed content', { mode: 'e2ee', settings: mark(1) }],
  ])('seals nothing %s that the server returned as plain', async (_whose, pin) => {
    const made = { t: 'plain', v: { notificationChannelsV1: [] } } as const;
    settings = { content: made, version: 1 };
    const refused = { name: 'SettingsRefused', reason: 'plain' };
    const change = () => changeEncryption(client, accessOf(pin), 'e2ee');
    await expect(change()).rejects.toMatchObject(refused);
    settings = { content: null, version: 0 };
    credentials = [{ service: 'mail', content: made, updatedAt: 1 }];
    await expect(change()).rejects.toBeInstanceOf(SettingsRefused);
    expect(migrations).toEqual([]);
  });

  it('publishes no older settings than the device has seen', async () => {
    const c = content.sealSettings(4, { a: 1 });
    settings = { content: { t: 'encrypted', c }, version: 1 };
    const change = changeEncryption(client, accessOf({ mode: 'e2ee', settings: mark(5) }), 'plain');
    await expect(change).rejects.toMatchObject({ reason: 'older' });
    expect(migrations).toEqual([]);
  });

  it('reads again where another client added a credential', async () => {
    conflicts = 1;
    added = { service: 'mail', content: { t: 'plain', v: 'new' }, updatedAt: 1 };
    await changeEncryption(client, accessOf(PLAIN), 'e2ee', { sleep: async () => undefined });
    const services = migrations.map((one) => one.credentials.map(({ service }) => service));
    expect(services).toEqual([[], ['mail']]);
  });

  it('waits and reads again after a conflict, and gives up after repeated ones', async () => {
    const pauses: number[] = [];
    const wait = {
      sleep: async (ms: number) => void pauses.push(ms),
      random: () => 1,
    };
    conflicts = 2;
    await changeEncryption(client, accessOf(PLAIN), 'e2ee', wait);
    expect(migrations.map((one) => one.expectedSettingsVersion)).toEqual([0, 1, 2]);
    expect(pauses).toEqual([100, 200]);
    conflicts = Infinity;
    const change = changeEncryption(client, accessOf(null), 'plain', wait);
    await expect(change).rejects.toThrow(SettingsConflict);
    expect(migrations).toHaveLength(3 + 12);
  });
});
