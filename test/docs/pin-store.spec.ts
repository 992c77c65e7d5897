import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  adoptPin,
  readPin,
  type PinStore,
} from '../../src/packages/client/settings/account-pin.js';

const PAGE = join(import.meta.dirname, '../../docs/client-kit.md');
const KEY = { publicKey: 'key' };

/** Runs the example, which has one annotation of a type. */
function documentedPins(): PinStore {
  const values = new Map<string, string>();
  const localStorage = {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
  };
  const [, code = ''] = /```ts\n([^`]*`pin[^]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
  const names = ['key', 'localStorage', 'readPin'];
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const run = new Function(...names, `${code.replace(': PinStore', '')}\nreturn pins;`);
  return run(KEY, localStorage, readPin) as PinStore;
}

describe('The store of a pin in docs/client-kit.md', () => {
  it.each([
    [5, 6],
    [6, 5],
  ])('keeps the newest of simultaneous updates: %i and %i', async (...revisions) => {
    const pins = documentedPins();
    expect(await pins.read()).toBeNull();
    const hash = 'A'.repeat(43);
    await Promise.all(
      revisions.map((rev) => adoptPin(pins, { mode: 'e2ee', settings: { rev, hash } })),
    );
    expect(await pins.read()).toEqual({ mode: 'e2ee', settings: { rev: 6, hash } });
  });
});
