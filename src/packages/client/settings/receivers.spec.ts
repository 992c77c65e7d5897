import type { Content } from '../../../core/protocol/content.js';
import type { SavedPushToken } from '../api/api-client-answers.js';
import { AccountContent } from '../crypto/account-content.js';
import { randomBytes } from '../crypto/bytes.js';
import { MemoryPins } from './account-pin.js';
import { readSettings, SettingsRefused } from './account-settings.js';
import {
  confirmOwnReceiver,
  confirmReceivers,
  isConfirmedReceiver,
  readReceivers,
  type ReceiversClient,
} from './receivers.js';

const SECRET = randomBytes(32);

const device = () => ({
  content: new AccountContent(SECRET, 'account'),
  pins: new MemoryPins(),
});

/** A server with push tokens, and with the version check of settings. */
function serverWith(...names: string[]) {
  const tokens = new Set(names);
  const history: Content[] = [];
  let version = 0;
  const settings = {
    read: () => Promise.resolve({ content: history.at(-1) ?? null, version }),
    write: (content: Content, expected: number) => {
      if (expected !== version) {
        const error = 'version-mismatch' as const;
        const current = { currentVersion: version, currentContent: history.at(-1) ?? null };
        return Promise.resolve({ success: false, error, ...current } as const);
      }
      history.push(content);
      version += 1;
      return Promise.resolve({ success: true, version } as const);
    },
  };
  const pushTokens = () =>
    Promise.resolve([...tokens].map((token) => ({ token }) as SavedPushToken));
  const client = { settings, pushTokens } as unknown as ReceiversClient;
  const confirmed = async (access = device()) => {
    const receivers = readReceivers(await readSettings(client, access));
    return [...tokens].filter((token) => isConfirmedReceiver(receivers, token));
  };
  /** Answers with older settings from now on, as a hostile server does. */
  const rollBack = () => void (history.pop(), (version += 1));
  return { client, tokens, history, confirmed, rollBack };
}

describe(confirmReceivers.name, () => {
  it('confirms what the person chose: a token that a stolen session adds is not', async () => {
    const { client, tokens, confirmed } = serverWith('phone', 'tablet', 'unknown');
    await confirmReceivers(client, device(), ['phone', 'tablet']);
    tokens.add('attacker');
    expect(await confirmed()).toEqual(['phone', 'tablet']);
  });

  it('keeps both devices that are confirmed at once, with the first list and with a later one', async () => {
    const { client, tokens, confirmed } = serverWith('phone', 'tablet');
    const both = (...names: string[]) =>
      Promise.all(names.map((name) => confirmReceivers(client, device(), [name])));
    await both('phone', 'tablet');
    expect(await confirmed()).toEqual(['phone', 'tablet']);
    tokens.add('laptop').add('watch');
    await both('laptop', 'watch');
    expect(await confirmed()).toEqual(['phone', 'tablet', 'laptop', 'watch']);
  });

  it('removes the confirmation of a removed token, so that it does not count when it is added again', async () => {
    const { client, tokens, confirmed } = serverWith('phone', 'lost');
    await confirmReceivers(client, device(), ['phone', 'lost']);
    tokens.delete('lost');
    await confirmReceivers(client, device(), []);
    tokens.add('lost');
    expect(await confirmed()).toEqual(['phone']);
  });

  it('writes nothing without a change, and no list without a choice', async () => {
    const { client, history } = serverWith('phone');
    expect(await confirmReceivers(client, device(), [])).toBeNull();
    await confirmReceivers(client, device(), ['phone']);
    await confirmReceivers(client, device(), ['phone']);
    expect(history).toHaveLength(1);
  });

  it('lets no server take the list back from a device that has seen it', async () => {
    const { client, confirmed, rollBack } = serverWith('phone', 'attacker');
    const access = device();
    await confirmReceivers(client, access, ['phone']);
    rollBack();
    await expect(confirmed(access)).rejects.toThrow(SettingsRefused);
  });

  it('confirms nothing without the key, and on an account that the server can read', async () => {
    const { client, history } = serverWith('phone');
    const plain = { ...device(), pins: new MemoryPins({ mode: 'plain', settings: null }) };
    expect(await confirmReceivers(client, null, ['phone'])).toBeNull();
    expect(await confirmReceivers(client, { ...plain, content: null }, ['phone'])).toBeNull();
    expect(await confirmReceivers(client, plain, ['phone'])).toBeNull();
    expect(history).toEqual([]);
  });
});

describe(confirmOwnReceiver.name, () => {
  it('begins the list with the first token of an account', async () => {
    const { client, tokens, confirmed } = serverWith('phone');
    await confirmOwnReceiver(client, device(), 'phone');
    tokens.add('attacker');
    expect(await confirmed()).toEqual(['phone']);
  });

  it('leaves the first choice to the person where there are other tokens', async () => {
    const { client, history } = serverWith('phone', 'older app');
    expect(await confirmOwnReceiver(client, device(), 'phone')).toBeNull();
    expect(history).toEqual([]);
  });

  it('confirms a renewed token of a device with the key', async () => {
    const { client, tokens, confirmed } = serverWith('phone', 'tablet');
    await confirmReceivers(client, device(), ['phone', 'tablet']);
    tokens.delete('phone');
    tokens.add('renewed');
    await confirmOwnReceiver(client, device(), 'renewed');
    expect(await confirmed()).toEqual(['tablet', 'renewed']);
  });
});

describe(readReceivers.name, () => {
  it('confirms no token by a damaged list', () => {
    const confirms = (receivers: unknown) =>
      isConfirmedReceiver(readReceivers({ receivers }), 'phone');
    expect([undefined, null].map(confirms)).toEqual([true, true]);
    expect(['all', {}, [], [7, null], true].map(confirms)).toEqual(Array(5).fill(false));
  });
});
