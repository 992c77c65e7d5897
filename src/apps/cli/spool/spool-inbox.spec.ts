import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Delivery } from '../../../packages/notify/delivery/delivery.js';
import { SpoolInbox } from './spool-inbox.js';
import { entryFor } from './spool-entry.js';
import { ownerOfThisProcess } from './spool-name.js';
import { Spool } from './spool.js';

/** Larger than the id of any process (proc(5), pid_max). */
const NO_PID = 2 ** 30;

const ACCOUNT = { server: 'https://s.test', accountId: 'a', settingsFile: null };

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gatehouse-inbox-'));
});

const open = () => new Spool({ directory, now: Date.now });

const entry = (id: string) => {
  const base = {
    id,
    eventId: 'e',
    topic: 'ready',
    createdAt: 0,
    expiresAt: 1e15,
    isPreview: false,
  } as const;
  const target = { kind: 'webhook', channelId: 'c', url: 'https://hook.test', body: '{}' } as const;
  const delivery: Delivery = { ...base, ...target, secrets: [] };
  return entryFor(delivery, ACCOUNT, false);
};

const idsOf = async (spool: Spool) => (await spool.entries()).map(({ entry: { id } }) => id);

describe(SpoolInbox.name, () => {
  it('accepts an id once when many add it simultaneously', async () => {
    const spools = Array.from({ length: 50 }, () => open());
    const added = await Promise.all(spools.map((spool) => spool.add([entry('one'), entry('one')])));
    expect(added.flatMap(({ claims }) => claims)).toHaveLength(1);
    expect(added.flatMap(({ known }) => known)).toHaveLength(99);
    expect(await idsOf(open())).toEqual(['one']);
  });

  it('finishes the addition of a killed process, and leaves that of a running one', async () => {
    const spool = open();
    await spool.add([entry('one')]);
    const queue = join(directory, 'queue');
    const [file = ''] = readdirSync(queue);
    const stored = JSON.parse(readFileSync(join(queue, file), 'utf8')) as object;
    rmSync(join(queue, file));
    const leave = (addedBy: string) =>
      writeFileSync(
        join(queue, `${file.slice(0, 32)}.new`),
        JSON.stringify({ ...stored, addedBy }),
      );
    leave(ownerOfThisProcess());
    expect(await spool.add([entry('one')])).toMatchObject({ claims: [], known: ['one'] });
    expect(await idsOf(spool)).toEqual([]);
    leave(ownerOfThisProcess().replace(`-${process.pid}-`, `-${NO_PID}-`));
    await spool.tidy();
    const [name] = await spool.due();
    expect(name && (await spool.claim(name))?.entry).toMatchObject({ id: 'one' });
  });

  it('moves a damaged addition aside once no process can still write it', async () => {
    const spool = open();
    await spool.tidy();
    const name = `${'a'.repeat(32)}.new`;
    const file = join(directory, 'queue', name);
    writeFileSync(file, '{');
    await spool.tidy();
    expect(await spool.damaged.names()).toEqual([]);
    utimesSync(file, 1, 1);
    await spool.tidy();
    expect(await spool.damaged.names()).toEqual([name]);
    expect(readdirSync(join(directory, 'queue'))).toEqual([]);
  });
});
