import type { Content } from '../../../core/protocol/content.js';
import { randomBytes } from '../crypto/bytes.js';
import { AccountContent } from '../crypto/account-content.js';
import { readCredential, writeCredential } from './account-credentials.js';
import { MemoryPins, type AccountPin } from './account-pin.js';
import { SettingsRefused, SettingsUnreadable } from './account-settings.js';

const content = new AccountContent(randomBytes(32), 'account');
const access = (pin: AccountPin | null = null) => ({ content, pins: new MemoryPins(pin) });
const PLAIN: AccountPin = { mode: 'plain', settings: null };
const E2EE: AccountPin = { mode: 'e2ee', settings: null };

function storeOf(stored: Content) {
  const sent: Content[] = [];
  const find = () => Promise.resolve({ service: 'mail', content: stored, updatedAt: 1 });
  const put = (_service: string, next: Content) => Promise.resolve(void sent.push(next));
  return { client: { credentials: { find, put } }, sent };
}

const plain = (v: unknown): Content => ({ t: 'plain', v });
const sealed = (v: unknown): Content => ({ t: 'encrypted', c: content.seal('credential:mail', v) });

describe(readCredential.name, () => {
  it('opens sealed credentials, and reads plain ones only where the device expects them', async () => {
    const read = (stored: Content, own: ReturnType<typeof access> | null) =>
      readCredential(storeOf(stored).client, own, 'mail');
    expect(await read(sealed('secret'), access())).toBe('secret');
    expect(await read(plain('secret'), access(PLAIN))).toBe('secret');
    expect(await read(plain('secret'), null)).toBe('secret');
    for (const pin of [null, E2EE]) {
      await expect(read(plain('made up'), access(pin))).rejects.toMatchObject({ reason: 'plain' });
    }
    await expect(read(sealed(1), access(PLAIN))).rejects.toBeInstanceOf(SettingsRefused);
    await expect(read(sealed(1), null)).rejects.toBeInstanceOf(SettingsUnreadable);
  });
});

describe(writeCredential.name, () => {
  it('sends nothing that is not sealed from a device with a key', async () => {
    const { client, sent } = storeOf(plain('made up'));
    await writeCredential(client, access(), 'mail', 'secret');
    const keyless = { content: null, pins: new MemoryPins(E2EE) };
    await expect(writeCredential(client, keyless, 'mail', 'secret')).rejects.toThrow(
      'no device key',
    );
    expect(JSON.stringify(sent)).not.toContain('secret');
    const [one] = sent as [Content & { t: 'encrypted' }];
    expect(content.open('credential:mail', one.c)).toBe('secret');
  });

  it('sends plain credentials where the person chose that, and without a key', async () => {
    const { client, sent } = storeOf(plain(1));
    await writeCredential(client, access(PLAIN), 'mail', 1);
    await writeCredential(client, null, 'mail', 2);
    expect(sent).toEqual([plain(1), plain(2)]);
  });
});
