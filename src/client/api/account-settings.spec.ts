import type { Content } from '../../protocol/content.js';
import { DeviceKey } from '../crypto/device-key.js';
import { AccountContent, type ContentUnreadable } from '../crypto/account-content.js';
import {
  changeSettings,
  openSettings,
  SettingsConflict,
  SettingsUnreadable,
  type SettingsFields,
} from './account-settings.js';
import type { GatehouseClient } from './api-client.js';

/** Settings with the version check of a server; `before` each write another client may write. */
function storeOf(
  content: Content | null,
  before: (store: { write: Write }) => void = () => undefined,
) {
  let stored = { content, version: content === null ? 0 : 1 };
  const write: Write = (next) => {
    stored = { content: next, version: stored.version + 1 };
  };
  const settings = {
    read: () => Promise.resolve(stored),
    write: (next: Content | null, expectedVersion: number) => {
      before({ write });
      const { content: currentContent, version: currentVersion } = stored;
      if (currentVersion !== expectedVersion) {
        const error = 'version-mismatch' as const;
        return Promise.resolve({ success: false, error, currentVersion, currentContent } as const);
      }
      write(next);
      return Promise.resolve({ success: true, version: stored.version } as const);
    },
  };
  const client = { settings } as unknown as Pick<GatehouseClient, 'settings'>;
  return { client, stored: () => stored };
}

type Write = (content: Content | null) => void;

const plain = (v: SettingsFields): Content => ({ t: 'plain', v });
const dark = (fields: SettingsFields) => ({ ...fields, theme: 'dark' });

describe(changeSettings.name, () => {
  it('applies the change to what another client wrote in between', async () => {
    let writes = 0;
    const { client, stored } = storeOf(plain({ a: 1 }), ({ write }) => {
      if ((writes += 1) === 1) {
        write(plain({ a: 1, b: 2 }));
      }
    });
    expect(await changeSettings(client, null, dark)).toEqual({ a: 1, b: 2, theme: 'dark' });
    expect(stored().content).toEqual(plain({ a: 1, b: 2, theme: 'dark' }));
    expect(writes).toBe(2);
  });

  it('stops after repeated conflicts', async () => {
    const { client, stored } = storeOf(null, ({ write }) => write(plain({ other: true })));
    await expect(changeSettings(client, null, dark)).rejects.toThrow(SettingsConflict);
    expect(stored().content).toEqual(plain({ other: true }));
  });

  it('writes nothing where nothing changes', async () => {
    const { client, stored } = storeOf(plain({ a: 1 }));
    expect(await changeSettings(client, null, (fields) => fields)).toEqual({ a: 1 });
    expect(stored().version).toBe(1);
  });

  it('opens and seals settings, and leaves those of another key sealed', async () => {
    const [own, other] = await Promise.all([DeviceKey.generate(), DeviceKey.generate()]);
    const content = new AccountContent(own.bytes, 'account');
    const { client, stored } = storeOf(null);
    await changeSettings(client, content, dark);
    expect(JSON.stringify(stored())).not.toContain('dark');
    expect(await openSettings(stored().content, content)).toEqual({ theme: 'dark' });
    const stranger = new AccountContent(other.bytes, 'account');
    const refused = changeSettings(client, stranger, dark).catch((error: unknown) => error);
    expect(await refused).toBeInstanceOf(SettingsUnreadable);
    const { cause } = (await refused) as { readonly cause: ContentUnreadable };
    expect(cause).toMatchObject({ reason: 'not-authentic' });
    await expect(changeSettings(client, null, dark)).rejects.toThrow('no device key');
    expect(stored().version).toBe(1);
  });
});
