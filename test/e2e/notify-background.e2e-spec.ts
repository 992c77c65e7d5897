import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownerOfThisProcess } from '../../src/notify/delivery/spool-name.js';
import type { Server } from '../helpers/server.js';
import { waitFor } from '../helpers/wait.js';
import type { WebhookReceiver } from '../fakes/webhook-receiver.js';
import { Notifying, startPlainServer } from './notify-world.js';

let server: Server;
let world: Notifying;
let receiver: WebhookReceiver;

beforeAll(async () => {
  server = await startPlainServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  world = await Notifying.start(server);
  receiver = await world.webhook('hook', (_request, count) => ({
    status: count === 1 ? 503 : 204,
  }));
});

afterEach(() => world.stop());

const spool = () => join(world.stateHome, 'gatehouse', 'spool');

const marks = async (): Promise<string[]> =>
  (await readdir(spool())).filter((name) => name.startsWith('flusher.'));

const notifyReady = () => world.run('notify', 'ready', '--session', 's');

/** As a process leaves it that retries, or that was killed while it did. */
const leaveMark = async (ageMs: number): Promise<void> => {
  await mkdir(spool(), { recursive: true });
  const mark = join(spool(), `flusher.${ownerOfThisProcess()}`);
  await writeFile(mark, '');
  const at = new Date(Date.now() - ageMs);
  await utimes(mark, at, at);
};

describe('a process that is left behind', () => {
  it('retries what failed for a time, and ends when nothing waits', async () => {
    const { code, stdout } = await notifyReady();
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('not yet') });
    await waitFor('the second try', () => receiver.received.length === 2);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    await waitFor('no process is left', async () => (await marks()).length === 0);
    const { stdout: listed } = await world.run('deliveries', 'list', '--state', 'sent');
    expect(listed).toContain(ids[0]);
  });

  it('is not left where nothing waits', async () => {
    await world.run('notify', 'ready', '--session', 's', '--no-background');
    await sleep(1_500);
    expect((await world.run('notify', 'flush')).code).toBe(0);
    expect(await notifyReady()).toMatchObject({ code: 0 });
    await sleep(500);
    expect(await marks()).toEqual([]);
  });

  it('is the only one: where one retries already, none is started', async () => {
    await leaveMark(0);
    await notifyReady();
    await sleep(3_000);
    expect(receiver.received).toHaveLength(1);
  });

  it('is started where a mark is left of a process whose id another program has now', async () => {
    await leaveMark(5 * 60_000);
    await notifyReady();
    await waitFor('the second try', () => receiver.received.length === 2);
    await waitFor('no process is left', async () => (await marks()).length === 0);
  });

  it('hears of a channel that was put right in the meantime', async () => {
    const before = await world.webhook('moved', () => ({ status: 503 }));
    const after = await world.webhook('elsewhere');
    await world.ok('channels', 'remove', 'elsewhere');
    expect((await notifyReady()).stdout).toContain('webhook moved  not yet');
    await waitFor('a second try, at the address that was read', () => before.received.length > 1);
    await world.ok('channels', 'set', 'moved', '--url', after.url);
    await waitFor('a try there', () => after.received.length === 1);
  });
});

describe('processes that wait, of which each tries what is due of all', () => {
  it('all end, and each says what became of its own', async () => {
    const seen = new Set<string | undefined>();
    await world.webhook('once-away', ({ headers }) => {
      const isNew = !seen.has(headers['webhook-id']);
      seen.add(headers['webhook-id']);
      return { status: isNew ? 503 : 204 };
    });
    const waiting = Array.from({ length: 8 }, (_, index) =>
      world.run('notify', 'ready', '--session', 's', '--id', `e${index}`, '--wait'),
    );
    for (const { code, stdout } of await Promise.all(waiting)) {
      expect({ code, stdout }).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('webhook once-away  sent'),
      });
    }
  });
});
