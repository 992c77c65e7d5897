import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEvent } from '../../../packages/notify/content/read-event.js';
import type { Delivery } from '../../../packages/notify/delivery/delivery.js';
import { entryFor, eventsEntryFor, type SpoolAccount } from './spool-entry.js';
import { formatSpoolName, hasEnded, ownerOfThisProcess, parseSpoolName } from './spool-name.js';
import { LEASE_MS, Spool, spoolDirectory, type Claim, type SpooledEvents } from './spool.js';

/** Larger than the id of any process (proc(5), pid_max). */
const NO_PID = 2 ** 30;

const ACCOUNT: SpoolAccount = { server: 'https://s.test', accountId: 'a', settingsFile: null };
const SECRET = 'a-signing-secret-of-a-channel';

let directory: string;
let now: number;

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'gatehouse-spool-')), 'spool');
  now = 1_000_000;
});

const open = (limits = {}) => new Spool({ directory, now: () => now, limits });

const entry = (id: string, expiresAt = now + 60_000, body = '{}') => {
  const base = {
    id,
    eventId: 'e',
    topic: 'ready',
    createdAt: now,
    expiresAt,
    isPreview: false,
  } as const;
  const target = { kind: 'webhook', channelId: 'c', url: 'https://hook.test', body } as const;
  const delivery: Delivery = { ...base, ...target, secrets: [SECRET] };
  return entryFor(delivery, ACCOUNT, false);
};

const addOne = async (spool: Spool, id: string): Promise<Claim> => {
  const { claims } = await spool.add([entry(id)]);
  return claims[0] as Claim;
};

const idsOf = async (spool: Spool) => (await spool.entries()).map(({ entry: { id } }) => id).sort();

describe(Spool.name, () => {
  it('stores entries without their signing secret, readable only by their owner', async () => {
    await addOne(open(), 'one');
    const queue = join(directory, 'queue');
    const [file = ''] = readdirSync(queue);
    expect(statSync(join(queue, file)).mode & 0o777).toBe(0o600);
    expect(statSync(queue).mode & 0o777).toBe(0o700);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const text = await readFile(join(queue, file), 'utf8');
    expect(text).not.toContain(SECRET);
    expect(JSON.parse(text)).toMatchObject({ id: 'one', isSigned: true });
  });

  it('accepts an id once, while it waits and after it ended', async () => {
    const spool = open();
    const claim = await addOne(spool, 'one');
    expect(await spool.add([entry('one')])).toMatchObject({ claims: [], known: ['one'] });
    await spool.end(claim, { state: 'sent', code: null, at: now });
    expect(await open().add([entry('one')])).toMatchObject({ claims: [], known: ['one'] });
  });

  it('keeps none of several entries where one cannot be written', async () => {
    const tooLarge = entry('large', now + 60_000, 'x'.repeat(64 * 1024));
    await expect(open().add([entry('one'), tooLarge, entry('two')])).rejects.toThrow(RangeError);
    await addOne(open(), 'later');
    expect(readdirSync(join(directory, 'queue'))).toHaveLength(1);
  });

  it('assigns an entry to one of many simultaneous claimers', async () => {
    const claim = await addOne(open(), 'one');
    await open().putBack(claim, now, null);
    const spools = Array.from({ length: 20 }, () => open());
    const claims = await Promise.all(
      spools.map(async (spool) => {
        const [name] = await spool.due();
        return name === undefined ? null : spool.claim(name);
      }),
    );
    expect(claims.filter((found) => found !== null)).toHaveLength(1);
  });

  it('leaves an entry to its owner until the lease has run out', async () => {
    await addOne(open(), 'one');
    expect(await open().due()).toEqual([]);
    now += LEASE_MS;
    const [name] = await open().due();
    expect(name && (await open().claim(name))?.entry.id).toBe('one');
  });

  it('does not wait for the lease of a clock that was set back since', async () => {
    await addOne(open(), 'one');
    now -= 3 * 60 * 60_000;
    const [name] = await open().due();
    expect(name && (await open().claim(name))?.entry.id).toBe('one');
  });

  it('releases the claims of a process that ended at once', async () => {
    await addOne(open(), 'one');
    const queue = join(directory, 'queue');
    const [file = ''] = readdirSync(queue);
    const owner = ownerOfThisProcess().replace(`-${process.pid}-`, `-${NO_PID}-`);
    writeFileSync(join(queue, file.replace(ownerOfThisProcess(), owner)), '{}');
    rmSync(join(queue, file));
    expect(await open().due()).toHaveLength(1);
  });

  it('applies the changes of another process after a sleep beyond the lease', async () => {
    const slept = open();
    const claim = await addOne(slept, 'one');
    now += LEASE_MS;
    const awake = open();
    const [name] = await awake.due();
    const taken = name && (await awake.claim(name));
    await slept.putBack(claim, now, { code: 'late', detail: '', at: now });
    await awake.end(taken as Claim, { state: 'sent', code: null, at: now });
    await slept.end(claim, { state: 'failed', code: 'late', at: now });
    expect(await idsOf(awake)).toEqual([]);
    expect((await awake.history.entries()).map(({ ending }) => ending.state)).toEqual(['sent']);
  });

  it('attempts an entry whose time was set before the clock was set back', async () => {
    now += 24 * 3_600_000;
    const spool = open();
    await spool.putBack(await addOne(spool, 'one'), now + 5_000, null);
    now -= 24 * 3_600_000;
    expect(await open().due()).toHaveLength(1);
  });

  it('delays an entry until it is due, and counts its attempts', async () => {
    const spool = open();
    const lastError = { code: 'status-500', detail: 'broken', at: now };
    await spool.putBack(await addOne(spool, 'one'), now + 5_000, lastError);
    expect(await spool.due()).toEqual([]);
    now += 5_000;
    const [name] = await spool.due();
    const claim = name && (await spool.claim(name));
    expect(claim?.entry).toMatchObject({ attempts: 1, lastError });
  });

  it('drops the entries that expire first when the spool is full, and reports it', async () => {
    const spool = open({ maxWaiting: 2 });
    for (const [id, expiresAt] of [
      ['late', now + 9_000],
      ['soon', now + 1_000],
    ] as const) {
      await spool.add([entry(id, expiresAt)], now);
    }
    expect((await spool.add([entry('new')], now)).displaced).toEqual(['soon']);
    expect(await idsOf(spool)).toEqual(['late', 'new']);
    const [ended] = await spool.history.entries();
    expect(ended).toMatchObject({ entry: { id: 'soon' }, ending: { code: 'spool-full' } });
  });

  it('stays within its size, and refuses an entry that is too large', async () => {
    const spool = open({ maxBytes: 200_000 });
    for (let index = 0; index < 6; index += 1) {
      await spool.add([entry(`${index}`, now + 1_000 * (index + 1), 'x'.repeat(50_000))], now);
    }
    const queue = join(directory, 'queue');
    const bytes = readdirSync(queue).reduce(
      (sum, file) => sum + statSync(join(queue, file)).size,
      0,
    );
    expect(bytes).toBeLessThanOrEqual(200_000);
    expect(await idsOf(spool)).toContain('5');
    await expect(spool.add([entry('huge', now + 1, 'x'.repeat(70_000))])).rejects.toThrow(
      RangeError,
    );
  });

  it('keeps the newest ended entries', async () => {
    const spool = open({ maxHistory: 2 });
    for (const id of ['one', 'two', 'three']) {
      now += 1;
      await spool.end(await addOne(spool, id), { state: 'sent', code: null, at: now });
    }
    await spool.tidy();
    expect((await spool.history.entries()).map((ended) => ended.entry.id)).toEqual([
      'three',
      'two',
    ]);
  });

  it('moves damaged files aside and continues with the rest', async () => {
    const spool = open();
    await spool.putBack(await addOne(spool, 'good'), now, null);
    const names = ['{ "v": 1,', '[]', '{"v":1,"id":"x","attempts":0,"kind":"delivery"}'];
    names.forEach((text, index) => {
      const key = String(index).padStart(32, '0');
      const name = { key, target: '0'.repeat(12), dueAt: 0, expiresAt: now + 1, claim: null };
      writeFileSync(join(directory, 'queue', formatSpoolName(name)), text);
    });
    const due = await spool.due();
    const claims = await Promise.all(due.map((name) => spool.claim(name)));
    expect(claims.flatMap((claim) => (claim ? [claim.entry.id] : []))).toEqual(['good']);
    expect(readdirSync(join(directory, 'damaged'))).toHaveLength(3);
  });

  it('keeps a bounded number of damaged files, the newest, for a week', async () => {
    const spool = open({ maxDamaged: 2 });
    await spool.tidy();
    for (const digit of ['1', '2', '3']) {
      now += 1_000;
      const key = digit.repeat(32);
      const name = { key, target: '0'.repeat(12), dueAt: 0, expiresAt: now + 1, claim: null };
      writeFileSync(join(directory, 'queue', formatSpoolName(name)), '{');
      await spool.claim(name);
    }
    const kept = ['2', '3'].map((digit) => `${digit.repeat(32)}.json`);
    expect(readdirSync(join(directory, 'damaged')).sort()).toEqual(kept);
    now += 7 * 24 * 3_600_000;
    await spool.tidy();
    expect(readdirSync(join(directory, 'damaged'))).toEqual([kept[1]]);
  });

  it('keeps the record of a delivery that cannot be stored again', async () => {
    const spool = open();
    await spool.end(await addOne(spool, 'one'), { state: 'failed', code: 'late', at: now });
    const queue = join(directory, 'queue');
    rmSync(queue, { recursive: true });
    writeFileSync(queue, '');
    await expect(spool.redeliver(entry('one'), now + 60_000)).rejects.toThrow('ENOTDIR');
    expect(await spool.history.endingsOf(['one'])).toHaveLength(1);
  });

  it('sends an ended delivery again under the same id', async () => {
    const spool = open();
    const claim = await addOne(spool, 'one');
    await spool.end(claim, { state: 'failed', code: 'status-404', at: now });
    const again = await spool.redeliver(entry('one'), now + 5_000);
    expect(again.entry).toMatchObject({
      id: 'one',
      attempts: 0,
      delivery: { expiresAt: now + 5_000 },
    });
    expect(await spool.history.entries()).toEqual([]);
  });
});

describe('Events in a spool', () => {
  const options = { requestPreviews: true, maskSecrets: true, denyPrivate: true };
  const event = (id: string) =>
    readEvent(
      {
        id,
        topic: 'ready',
        serverUrl: ACCOUNT.server,
        session: { sessionId: 's', title: 'CONTENT' },
        messageText: 'CONTENT',
        metadata: { about: 'CONTENT' },
      },
      now,
    );
  const deliveryOf = (id: string): Delivery => {
    const base = { id, eventId: 'e', topic: 'ready', createdAt: now, isPreview: false } as const;
    const target = { kind: 'webhook', channelId: 'c', url: 'https://hook.test' } as const;
    return { ...base, ...target, body: '{}', expiresAt: now + 60_000, secrets: [SECRET] };
  };
  const keep = (spool: Spool, isClaimed: boolean) =>
    spool.addEvents(eventsEntryFor(ACCOUNT, [event('e1')], options), isClaimed);
  const claimsOf = async (spool: Spool, isDueOnly = false): Promise<SpooledEvents[]> => {
    const claims: SpooledEvents[] = [];
    for await (const claim of spool.claimEvents(isDueOnly)) {
      claims.push(claim);
    }
    return claims;
  };

  it('lets exactly one of 50 simultaneous callers claim the events', async () => {
    await keep(open(), false);
    const claims = await Promise.all(Array.from({ length: 50 }, () => claimsOf(open())));
    expect(claims.flat()).toHaveLength(1);
    expect(claims.flat()[0]?.entry.events).toMatchObject([{ id: 'e1' }]);
  });

  it('keeps claims of a live process, and takes them over once it was killed', async () => {
    const { name } = await keep(open(), true);
    expect(await claimsOf(open())).toEqual([]);
    const left = name.replace(`-${process.pid}-`, `-${NO_PID}-`);
    renameSync(join(directory, 'queue', name), join(directory, 'queue', left));
    expect(await claimsOf(open())).toHaveLength(1);
  });

  it('replaces events by their deliveries, once even if the process is killed between the two steps', async () => {
    const spool = open();
    const kept = await keep(spool, false);
    const text = await readFile(join(directory, 'queue', kept.name), 'utf8');
    const [first] = await claimsOf(spool);
    await spool.replace(first as SpooledEvents, [deliveryOf('one')]);
    expect(await idsOf(spool)).toEqual(['one']);
    // A kill before the removal of the events leaves both.
    writeFileSync(join(directory, 'queue', kept.name), text);
    const [again] = await claimsOf(spool);
    const added = await spool.replace(again as SpooledEvents, [deliveryOf('one')]);
    expect(added).toMatchObject({ claims: [], known: ['one'] });
    expect(await idsOf(spool)).toEqual(['one']);
    const [stored] = await spool.entries();
    expect(stored?.entry).toMatchObject({ denyPrivate: true, account: ACCOUNT });
  });

  it('waits for the time of events that were put back, and stays busy until then', async () => {
    const spool = open();
    const claim = await keep(spool, true);
    await spool.putBack(claim, now + 1_000, { code: 'server-unreachable', detail: '', at: now });
    expect(await claimsOf(spool, true)).toEqual([]);
    expect(await spool.nextRoundAt()).toBe(now + 1_000);
    expect(await spool.dueByTarget()).toEqual([]);
    now += 1_000;
    expect(await claimsOf(spool, true)).toMatchObject([{ entry: { attempts: 1 } }]);
  });

  it('removes expired events, and keeps a record without their content', async () => {
    const spool = open();
    await keep(spool, false);
    now += 3_600_000;
    expect(await claimsOf(spool)).toEqual([]);
    expect(await spool.entries()).toEqual([]);
    expect(await spool.nextRoundAt()).toBeNull();
    const [ended] = await spool.history.entries();
    expect(ended).toMatchObject({ entry: { kind: 'events' }, ending: { code: 'expired' } });
    expect(JSON.stringify(ended)).not.toContain('CONTENT');
  });

  it('keeps the events when deliveries need their space', async () => {
    const spool = open({ maxWaiting: 1 });
    await keep(spool, false);
    await spool.add([entry('one')], now);
    expect((await spool.add([entry('two')], now)).displaced).toEqual(['one']);
    expect(await claimsOf(spool)).toHaveLength(1);
  });
});

describe(parseSpoolName.name, () => {
  it('reads written names, and nothing else', () => {
    const claim = { owner: ownerOfThisProcess(), leaseUntil: 7 };
    const name = { key: 'a'.repeat(32), target: 'b'.repeat(12), dueAt: 1, expiresAt: 2, claim };
    expect(parseSpoolName(formatSpoolName(name))).toEqual(name);
    expect(parseSpoolName(formatSpoolName({ ...name, claim: null }))).toEqual({
      ...name,
      claim: null,
    });
    expect(['.abc.tmp', 'README', '../x.json', ''].map(parseSpoolName)).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

describe(hasEnded.name, () => {
  it('returns true for this machine only, and never for a process that runs', () => {
    expect(hasEnded(ownerOfThisProcess())).toBe(false);
    expect(hasEnded(`elsewhere-${process.pid}-00`)).toBe(false);
    expect(hasEnded(ownerOfThisProcess().replace(/-\w+$/, '-earlier'))).toBe(true);
  });
});

describe(spoolDirectory.name, () => {
  it('is in the state directory, and ignores a relative one', () => {
    expect(spoolDirectory({ XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/gatehouse/spool');
    expect(spoolDirectory({ XDG_STATE_HOME: 's', HOME: '/h' })).toBe(
      '/h/.local/state/gatehouse/spool',
    );
  });
});
