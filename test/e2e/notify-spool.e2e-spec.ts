import { existsSync, readdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningCli } from '../helpers/cli.js';
import type { Server } from '../helpers/server.js';
import { Notifying, startPlainServer, type EventLine } from './notify-world.js';

const EVENTS = 1_000;
const SHORT_LIVED = 40;
const KILLS = 10;
const KILLS_BEFORE = 3;
const READY_TTL_MS = 3_600_000;
const TOKEN = 'ExponentPushToken[spool]';

let server: Server;
let world: Notifying;

beforeAll(async () => {
  server = await startPlainServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  world = await Notifying.start(server);
});

afterEach(() => world.stop());

const eventLine = (id: string, createdAt: number) =>
  JSON.stringify({ id, topic: 'ready', createdAt, session: { sessionId: 's' } });

/** Deliveries that are on the disk, waiting or ended. */
const spooled = ({ stateHome }: Notifying): number => {
  const names = ['queue', 'ended'].flatMap((part) => {
    const directory = join(stateHome, 'gatehouse', 'spool', part);
    return existsSync(directory) ? readdirSync(directory) : [];
  });
  return names.filter((name) => name.endsWith('.json')).length;
};

/** As if all that waits had waited until it no longer matters. */
async function endTheirTime({ stateHome }: Notifying): Promise<void> {
  const queue = join(stateHome, 'gatehouse', 'spool', 'queue');
  for (const name of readdirSync(queue)) {
    const entry = JSON.parse(await readFile(join(queue, name), 'utf8')) as { delivery: object };
    const over = { ...entry, delivery: { ...entry.delivery, expiresAt: 1 } };
    await writeFile(join(queue, name), JSON.stringify(over));
    const [key, lane, dueAt] = name.split('.');
    await rename(join(queue, name), join(queue, `${key}.${lane}.${dueAt}.1.json`));
  }
}

describe('the spool', () => {
  it('delivers 1,000 events at least once though its process is killed ten times', async () => {
    const seed = Number(process.env['GATEHOUSE_TEST_SEED'] ?? Date.now() % 1_000_000);
    const random = randomFrom(seed);
    const arrivals: { id: string; eventId: string; sentAt: number }[] = [];
    // Every tenth try fails, so that entries wait, are put back and are tried by other processes;
    // none fails more than twice, as each further time is waited for longer.
    const failures = new Map<string, number>();
    await world.webhook('hook', async ({ headers, rawBody }) => {
      await sleep(30);
      const id = headers['webhook-id'] ?? '';
      const failed = failures.get(id) ?? 0;
      if (failed < 2 && random() < 0.1) {
        failures.set(id, failed + 1);
        return { status: 503 };
      }
      const { metadata } = JSON.parse(rawBody.toString()) as { metadata: { eventId: string } };
      // When the sender began this try, which no slow machine delays.
      const sentAt = Number(headers['webhook-timestamp']) * 1000;
      arrivals.push({ id, eventId: metadata.eventId, sentAt });
      return { status: 204 };
    });
    await world.registerToken(TOKEN);
    const now = Date.now();
    const shortEnds = now + 8_000;
    const lines = [
      ...Array.from({ length: EVENTS }, (_, index) => eventLine(`e${index}`, now)),
      ...Array.from({ length: SHORT_LIVED }, (_, index) =>
        eventLine(`short${index}`, shortEnds - READY_TTL_MS),
      ),
    ];
    const file = join(world.user.home, 'events.ndjson');
    await writeFile(file, lines.join('\n'));
    const send = ['notify', 'send', '--event-file', file, '--no-background'];
    let struck = 0;
    const kill = async (running: RunningCli): Promise<void> => {
      struck += Number(running.child.exitCode === null);
      running.child.kill('SIGKILL');
      await running.exited;
    };
    for (let kills = 0; kills < KILLS_BEFORE; kills += 1) {
      const running = world.start(...send);
      await sleep(300 + random() * 700);
      await kill(running);
    }
    const accepting = world.start(...send);
    await accepting.until(() => spooled(world) >= 2 * lines.length);
    await kill(accepting);
    // From here on no event is sent again: what the spool lost would be lost.
    for (let kills = KILLS_BEFORE + 1; kills < KILLS; kills += 1) {
      const running = world.start('notify', 'flush', '--wait');
      // By what it has done, so that no machine is fast enough to be ready before.
      const enough = arrivals.length + Math.floor(random() * 100);
      await running.until(() => arrivals.length >= enough);
      await kill(running);
    }
    expect(struck).toBe(KILLS);
    await world.run('notify', 'flush', '--wait');
    const said = `seed ${seed}`;
    const idsOf = new Map<string, Set<string>>();
    for (const { id, eventId } of arrivals) {
      idsOf.set(eventId, (idsOf.get(eventId) ?? new Set()).add(id));
    }
    const lost = Array.from({ length: EVENTS }, (_, index) => `e${index}`).filter(
      (id) => !idsOf.has(id),
    );
    expect([said, lost]).toEqual([said, []]);
    expect([...idsOf.values()].filter((ids) => ids.size !== 1)).toEqual([]);
    const late = arrivals.filter(
      ({ eventId, sentAt }) => eventId.startsWith('s') && sentAt > shortEnds,
    );
    expect([said, late]).toEqual([said, []]);
    const pushed = new Set(world.push.accepted.map(({ data }) => data?.['eventId']));
    const unpushed = Array.from({ length: EVENTS }, (_, i) => `e${i}`).filter(
      (id) => !pushed.has(id),
    );
    expect([said, unpushed]).toEqual([said, []]);
    const [left] = await world.ok<{ waiting: number }>('notify', 'flush');
    expect(left).toMatchObject({ waiting: 0 });
  });

  it('drops what no longer matters and says so, and sends none of it late', async () => {
    const receiver = await world.webhook('hook', (_request, count) => ({
      status: count === 1 ? 503 : 204,
    }));
    expect(await world.notify(1, 'ready', '--session', 's')).toContain('webhook hook: waiting');
    await endTheirTime(world);
    const [flushed] = await world.lines<{ tried: object[] }>(1, 'notify', 'flush');
    expect(flushed?.tried).toMatchObject([{ state: 'dropped', code: 'expired' }]);
    expect(receiver.received).toHaveLength(1);
    const { stdout } = await world.run('deliveries', 'list', '--state', 'dropped');
    expect(stdout).toContain('no longer matters');
  });

  it('does not let a dead, a slow and a redirecting webhook hold up push and the others', async () => {
    await world.registerToken(TOKEN);
    const arrived: Record<string, number> = {};
    const healthy = await world.webhook('healthy', () => {
      arrived['healthy'] = Date.now();
      return { status: 204 };
    });
    await world.webhook('slow', () => 'silence');
    await world.ok('channels', 'add', 'http://127.0.0.1:1/', '--id', 'dead');
    await world.webhook('redirecting', () => ({ status: 302, headers: { location: healthy.url } }));
    const running = world.start('notify', 'ready', '--session', 's', '--no-background');
    await running.until(() => arrived['healthy'] !== undefined && world.push.accepted.length === 1);
    // The slow one is still being waited for.
    expect(running.child.exitCode).toBe(null);
    const { code, stdout } = await running.exited;
    expect(code).toBe(1);
    expect(stdout).toMatch(/webhook slow {2}not yet: .*in time/);
    expect(stdout).toMatch(/webhook dead {2}not yet: Nothing listens/);
    expect(stdout).toMatch(/webhook redirecting {2}failed: .*302/);
    expect(healthy.received).toHaveLength(1);
  });

  it('brings a delivery to the address that was put right in the meantime', async () => {
    await world.ok(
      'channels',
      'add',
      'http://127.0.0.1:1/',
      '--id',
      'hook',
      '--secret',
      'long-secret',
    );
    await world.notify(1, 'ready', '--session', 's', '--id', 'again');
    await world.ok('channels', 'remove', 'hook');
    const receiver = await world.webhook('hook', undefined, '--secret', 'long-secret');
    await sleep(1_500);
    await world.ok('notify', 'flush');
    const [request] = receiver.received;
    expect(request?.headers['x-service-signature-256']).toMatch(/^sha256=[\da-f]{64}$/);
  });

  it('sends again what a killed process had in hand, without waiting for its lease', async () => {
    const receiver = await world.webhook('hook', (_request, count) =>
      count === 1 ? 'silence' : { status: 204 },
    );
    const running = world.start('notify', 'ready', '--session', 's', '--no-background');
    await running.until(() => receiver.received.length === 1);
    running.child.kill('SIGKILL');
    await running.exited;
    const id = receiver.received[0]?.headers['webhook-id'] ?? '';
    expect(await world.run('deliveries', 'redeliver', id)).toMatchObject({ code: 0 });
    expect(receiver.received).toHaveLength(2);
  });

  it('keeps a delivery to public addresses, whichever command sends it again', async () => {
    const receiver = await world.webhook('hook');
    const [event] = await world.lines<EventLine>(
      1,
      ...['notify', 'ready', '--session', 's', '--deny-private'],
    );
    const refused = { state: 'failed', code: 'destination-refused' };
    expect(event?.outcomes).toMatchObject([{}, refused]);
    const id = event?.outcomes[1]?.deliveryId ?? '';
    expect(await world.lines(1, 'deliveries', 'redeliver', id)).toMatchObject([refused]);
    expect(await world.lines(1, 'channels', 'test', 'hook', '--deny-private')).toMatchObject([
      refused,
    ]);
    expect(receiver.received).toEqual([]);
  });
});

/** Mulberry32: the same seed gives the same test. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
