import { sealOlderSettings } from '../../../../test/helpers/older-settings.js';
import type { Content } from '../../../core/protocol/content.js';
import { randomBytes } from '../crypto/bytes.js';
import { AccountContent, type ContentUnreadable } from '../crypto/account-content.js';
import { MemoryPins, pinMode, readPin, type AccountPin } from './account-pin.js';
import {
  acceptSettings,
  changeSettings,
  openSettings,
  readSettings,
  SettingsConflict,
  SettingsRefused,
  SettingsUnreadable,
  type SettingsFields,
} from './account-settings.js';
import { GatehouseProblem } from '../api/problem.js';

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
  /** Answers with another content from now on, as a hostile server does. */
  const answer = (next: Content | null) => void (stored = { ...stored, content: next });
  return { client: { settings }, stored: () => stored, answer };
}

type Write = (content: Content | null) => void;

const plain = (v: SettingsFields): Content => ({ t: 'plain', v });
const dark = (fields: SettingsFields) => ({ ...fields, theme: 'dark' });

const SECRET = randomBytes(32);

const device = (secret = SECRET, pin: AccountPin | null = null) => ({
  content: new AccountContent(secret, 'account'),
  pins: new MemoryPins(pin),
});

const sealed = (rev: number, v: SettingsFields): Content => ({
  t: 'encrypted',
  c: device().content.sealSettings(rev, v),
});

const older = (v: SettingsFields): Content => ({
  t: 'encrypted',
  c: sealOlderSettings(SECRET, 'account', v),
});

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof SettingsRefused ? error.reason : String(error);
}

/** Lets the other clients act for longer, the more time has to pass. */
async function passes(ms: number): Promise<void> {
  for (let left = ms * 20; left > 0; left -= 1) {
    await Promise.resolve();
  }
}

const KNOWN = sealed(5, { a: 5 });
const WRITTEN = { success: true, version: 2 } as const;
const PLAIN_PIN: AccountPin = { mode: 'plain', settings: null };

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
    const waits: number[] = [];
    const sleep = (ms: number) => Promise.resolve(waits.push(ms));
    const changing = changeSettings(client, null, dark, { sleep, random: () => 1 });
    await expect(changing).rejects.toThrow(SettingsConflict);
    expect(stored().content).toEqual(plain({ other: true }));
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000]);
  });

  it('stores the changes of 50 clients that write at once', async () => {
    const { client, stored } = storeOf(null);
    const fields = Array.from({ length: 50 }, (_, index) => `field-${index}`);
    const writing = fields.map((name, index) =>
      changeSettings(client, null, (before) => ({ ...before, [name]: true }), {
        sleep: passes,
        random: () => index / fields.length,
      }),
    );
    await Promise.all(writing);
    const all = Object.fromEntries(fields.map((name) => [name, true]));
    expect(stored().content).toEqual(plain(all));
  });

  it('writes nothing where nothing changes', async () => {
    const { client, stored } = storeOf(plain({ a: 1 }));
    expect(await changeSettings(client, null, (fields) => fields)).toEqual({ a: 1 });
    expect(stored().version).toBe(1);
  });

  it('opens and seals settings, and leaves those of another key sealed', async () => {
    const { client, stored } = storeOf(null);
    const own = device();
    await changeSettings(client, own, dark);
    expect(JSON.stringify(stored())).not.toContain('dark');
    expect(await openSettings(stored().content, own.content)).toEqual({ theme: 'dark' });
    const refused = changeSettings(client, device(randomBytes(32)), dark);
    const error = (await refused.catch((reason: unknown) => reason)) as SettingsUnreadable;
    expect(error).toBeInstanceOf(SettingsUnreadable);
    expect(error.cause as ContentUnreadable).toMatchObject({ reason: 'not-authentic' });
    await expect(changeSettings(client, null, dark)).rejects.toThrow('no device key');
    expect(stored().version).toBe(1);
  });

  it('writes each change under the next revision, also after one of another device', async () => {
    const { client, stored } = storeOf(null);
    const [one, other] = [device(), device()];
    for (const who of [one, one, other, one]) {
      await changeSettings(client, who, (fields) => ({ ...fields, count: stored().version + 1 }));
    }
    expect(stored().content).toMatchObject({ c: expect.stringMatching(/^2\.4\./) as unknown });
    expect(await readSettings(client, other)).toEqual({ count: 4 });
    expect(await one.pins.read()).toEqual(await other.pins.read());
  });

  it('replaces settings of version 1 by revision 1', async () => {
    const { client, stored } = storeOf(older({ a: 1 }));
    const own = device();
    expect(await readSettings(client, own)).toEqual({ a: 1 });
    await changeSettings(client, own, dark);
    expect(stored().content).toMatchObject({ c: expect.stringMatching(/^2\.1\./) as unknown });
  });
});

describe('a device with the key of the account', () => {
  const leak = { notificationChannelsV1: [{ id: 'evil', url: 'https://evil.example/' }] };

  it.each<[string, Content | null, Content | null]>([
    ['plain', null, plain(leak)],
    ['plain', KNOWN, plain(leak)],
    ['missing', KNOWN, null],
    ['missing', older({}), null],
    ['older', KNOWN, sealed(4, {})],
    ['older', KNOWN, older({})],
    ['replaced', KNOWN, sealed(5, { a: 5 })],
  ])('reads and writes no settings that are %s', async (reason, seen, answer) => {
    const store = storeOf(seen);
    const own = device();
    await readSettings(store.client, own);
    const pin = await own.pins.read();
    store.answer(answer);
    const before = store.stored();
    expect(await reasonOf(readSettings(store.client, own))).toBe(reason);
    let changes = 0;
    const change = (fields: SettingsFields) => ({ ...fields, changes: (changes += 1) });
    expect(await reasonOf(changeSettings(store.client, own, change))).toBe(reason);
    expect(changes).toBe(0);
    expect(store.stored()).toBe(before);
    expect(await own.pins.read()).toEqual(pin);
  });

  it('reads newer settings of other devices, and version 1 until it has seen version 2', async () => {
    const store = storeOf(older({ a: 1 }));
    const own = device();
    for (const next of [older({ a: 2 }), older({ a: 3 }), sealed(1, {}), sealed(9, {})]) {
      store.answer(next);
      await readSettings(store.client, own);
    }
    store.answer(older({ a: 4 }));
    expect(await reasonOf(readSettings(store.client, own))).toBe('older');
  });

  it('refuses a rollback that a write of its own was answered with', async () => {
    const store = storeOf(sealed(1, {}));
    const own = device();
    const discarding = {
      settings: { ...store.client.settings, write: () => Promise.resolve(WRITTEN) },
    };
    await changeSettings(discarding, own, dark);
    expect(await reasonOf(readSettings(store.client, own))).toBe('older');
  });

  it('writes no plain settings where the server reports that the account is plain', async () => {
    const written: unknown[] = [];
    const write = (content: Content | null) => {
      written.push(content);
      const facts = { code: 'content-mode-mismatch', status: 400, message: '' };
      return Promise.reject(new GatehouseProblem(facts));
    };
    const { client } = storeOf(null);
    const refused = changeSettings({ settings: { ...client.settings, write } }, device(), dark);
    expect(await reasonOf(refused)).toBe('plain');
    expect(written).toMatchObject([{ t: 'encrypted' }]);
  });

  it('follows the mode that the person confirmed, and refuses the other one', async () => {
    const store = storeOf(plain({ a: 1 }));
    const own = device();
    await pinMode(own.pins, 'plain');
    await changeSettings(store.client, own, dark);
    expect(store.stored().content).toEqual(plain({ a: 1, theme: 'dark' }));
    store.answer(sealed(1, {}));
    expect(await reasonOf(readSettings(store.client, own))).toBe('encrypted');
    await pinMode(own.pins, 'e2ee');
    expect(await readSettings(store.client, own)).toEqual({});
  });

  it('refuses older settings after the mode was plain in between', async () => {
    const store = storeOf(KNOWN);
    const own = device();
    await readSettings(store.client, own);
    await pinMode(own.pins, 'plain');
    await pinMode(own.pins, 'e2ee');
    store.answer(sealed(4, {}));
    expect(await reasonOf(readSettings(store.client, own))).toBe('older');
  });

  it('refuses plain settings also after its key was removed', async () => {
    const own = device();
    await readSettings(storeOf(KNOWN).client, own);
    const without = { content: null, pins: own.pins };
    expect(await reasonOf(readSettings(storeOf(plain({})).client, without))).toBe('plain');
    for (const content of [null, KNOWN]) {
      const read = readSettings(storeOf(content).client, without);
      expect(await reasonOf(read)).toContain('no device key');
    }
  });

  it('does not forget newer settings that another process of the device noted', async () => {
    const store = storeOf(sealed(1, {}));
    const own = device();
    const slow = {
      settings: {
        ...store.client.settings,
        read: async () => {
          const first = await store.client.settings.read();
          await changeSettings(store.client, own, dark);
          return first;
        },
      },
    };
    expect(await readSettings(slow, own)).toEqual({});
    expect(await own.pins.read()).toMatchObject({ settings: { rev: 2 } });
  });
});

describe(acceptSettings.name, () => {
  it.each<[string, Content | null, SettingsFields]>([
    ['missing', null, {}],
    ['older', sealed(3, { a: 3 }), { a: 3 }],
    ['older', older({ a: 0 }), { a: 0 }],
    ['replaced', sealed(5, { b: 5 }), { b: 5 }],
  ])('writes %s settings under a higher revision once the person confirms', async (_why, c, v) => {
    const store = storeOf(KNOWN);
    const own = device();
    await readSettings(store.client, own);
    store.answer(c);
    expect(await acceptSettings(store.client, own, () => false)).toBeNull();
    expect(store.stored().content).toBe(c);
    const shown: unknown[] = [];
    const accepted = acceptSettings(store.client, own, (fields) => shown.push(fields) > 0);
    expect([await accepted, shown]).toEqual([v, [v]]);
    expect(store.stored().content).toMatchObject({
      c: expect.stringMatching(/^2\.6\./) as unknown,
    });
    expect(await readSettings(store.client, own)).toEqual(v);
  });

  it('does not accept another mode, or settings that changed meanwhile', async () => {
    const own = device();
    expect(await reasonOf(acceptSettings(storeOf(plain({})).client, own, () => true))).toBe(
      'plain',
    );
    const store = storeOf(sealed(1, {}), ({ write }) => write(sealed(2, {})));
    const accepted = acceptSettings(store.client, own, () => true);
    await expect(accepted).rejects.toBeInstanceOf(SettingsConflict);
  });
});

describe(readPin.name, () => {
  const settings = { rev: 1, hash: 'A'.repeat(43) };

  it('reads what a store keeps as JSON', () => {
    expect(readPin({ mode: 'e2ee', settings, more: 1 })).toEqual({ mode: 'e2ee', settings });
    expect(readPin(PLAIN_PIN)).toEqual(PLAIN_PIN);
    expect(readPin({ mode: 'plain' })).toEqual(PLAIN_PIN);
  });

  it.each([
    ...[null, undefined, 'e2ee', {}, { mode: 'other' }, { mode: 'e2ee', settings: 1 }],
    ...[{ rev: -1 }, { rev: 1.5 }, { rev: '1' }, { hash: 'A' }, { hash: 1 }].map((one) => ({
      ...{ mode: 'e2ee', settings: { ...settings, ...one } },
    })),
  ])('refuses the damaged %j', (stored) => {
    expect(readPin(stored)).toBeNull();
  });
});
