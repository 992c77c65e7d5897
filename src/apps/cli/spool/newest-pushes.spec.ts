import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pushDeliveries } from '../../../../test/fixtures/sender-fixture.js';
import { NewestPushes } from './newest-pushes.js';
import { entryFor } from './spool-entry.js';

const HOUR = 3_600_000;
const START = 1_000 * HOUR;
const ACCOUNT = { server: 'https://s.test', accountId: 'a', settingsFile: null };

let directory: string;
let now: number;
let pushes: NewestPushes;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gatehouse-newest-'));
  now = START;
  pushes = new NewestPushes(directory, () => now);
});

function ready(
  createdAt: number,
  fields: { readonly topic?: 'ready' | 'permission_request' } = {},
) {
  const [push] = pushDeliveries('a');
  const delivery = { ...push, topic: 'ready', ...fields, createdAt } as typeof push;
  return entryFor(delivery as NonNullable<typeof delivery>, ACCOUNT, false);
}

describe(NewestPushes.name, () => {
  it('supersedes older events only, whatever order they are sent in', async () => {
    await pushes.add(ready(START - 1));
    await pushes.add(ready(START - 2));
    expect(await pushes.isSuperseded(ready(START - 2))).toBe(true);
    expect(await pushes.isSuperseded(ready(START - 1))).toBe(false);
    expect(await pushes.isSuperseded(ready(START))).toBe(false);
    await pushes.forget(ready(START - 2));
    expect(await pushes.isSuperseded(ready(START - 2))).toBe(false);
  });

  it('supersedes no request', async () => {
    await pushes.add(ready(START, { topic: 'permission_request' }));
    expect(readdirSync(directory)).toEqual([]);
  });

  it('supersedes nothing by an event of a clock that was set back since', async () => {
    await pushes.add(ready(START));
    now -= HOUR;
    expect(await pushes.isSuperseded(ready(now))).toBe(false);
    await pushes.add(ready(now));
    expect(await pushes.isSuperseded(ready(now - 1))).toBe(true);
  });

  it('keeps no mark for longer than a delivery can wait', async () => {
    await pushes.add(ready(START));
    now = Date.now() + HOUR;
    await pushes.tidy();
    expect(readdirSync(directory)).toHaveLength(1);
    now = Date.now() + 3 * HOUR;
    await pushes.tidy();
    expect(readdirSync(directory)).toEqual([]);
  });
});
