import { existsSync, readdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../fixtures/seeded-random.js';
import type { RunningCli } from '../../fixtures/programs/cli-fixture.js';
import { type Notifying, notifyInEachTest, type EventLine } from '../../fixtures/notify-fixture.js';

const EVENTS = 1_000;
const SHORT_LIVED = 40;
const KILLS = 10;
const KILLS_BEFORE = 3;
const READY_TTL_MS = 3_600_000;
const TOKEN = 'ExponentPushToken[spool]';

let fixture: Notifying;

await notifyInEachTest((one) => (fixture = one));

const eventLine = (id: string, createdAt: number) =>
  JSON.stringify({ id, topic: 'ready', createdAt, session: { sessionId: 's' } });

/** Returns the deliveries on disk, waiting or ended. */
const spooled = ({ stateHome }: Notifying): number => {
  const names = ['queue', 'ended'].flatMap((part) => {
    const directory = join(stateHome, 'gatehouse', 'spool', part);
    return existsSync(directory) ? readdirSync(directory) : [];
  });
  return names.filter((name) => name.endsWith('.json')).length;
};

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
  it('delivers 1,000 events at least once although its process is killed ten times', async () => {
    const seed = Number(process.env['GATEHOUSE_TEST_SEED'] ?? Date.now() % 1_000_000);
    const random = new SeededRandom(seed);
    const arrivals: { id: string; eventId: string; sentAt: number }[] = [];
    // Every tenth attempt fails, so that entries wait, return to the queue and are tried by other
    // processes. No entry fails more than twice, because the delay grows with each attempt.
    const failures = new Map<string, number>();
    await fixture.webhook('hook', async ({ headers, rawBody }) => {
      await sleep(30);
      const id = headers['webhook-id'] ?? '';
      const failed = failures.get(id) ?? 0;
      if (failed < 2 && random.fraction() < 0.1) {
        failures.set(id, failed + 1);
        return { status: 503 };
      }
      const { metadata } = JSON.parse(rawBody.toString()) as { metadata: { eventId: string } };
      // The time at which the sender began this attempt, which a slow machine does not delay.
      const sentAt = Number(headers['webhook-timestamp']) * 1000;
      arrivals.push({ id, eventId: metadata.eventId, sentAt });
      return { status: 204 };
    });
    await fixture.registerToken(TOKEN);
    const now = Date.now();
    const shortEnds = now + 8_000;
    const lines = [
      ...Array.from({ length: EVENTS }, (_, index) => eventLine(`e${index}`, now)),
      ...Array.from({ length: SHORT_LIVED }, (_, index) =>
        eventLine(`short${index}`, shortEnds - READY_TTL_MS),
      ),
    ];
    const file = join(fixture.user.home, 'events.ndjson');
    await writeFile(file, lines.join('\n'));
    const send = ['notify', 'send', '--event-file', file, '--no-background'];
    let struck = 0;
    const kill = async (running: RunningCli): Promise<void> => {
      struck += Number(running.child.exitCode === null);
      running.child.kill('SIGKILL');
      await running.exited;
    };
    for (let kills = 0; kills < KILLS_BEFORE; kills += 1) {
      const running = fixture.start(...send);
      await sleep(300 + random.fraction() * 700);
      await kill(running);
    }
    const accepting = fixture.start(...send);
    await accepting.until(() => spooled(fixture) >= 2 * lines.length);
    await kill(accepting);
    // From here on no event is sent again, so an event that the spool lost would be missing.
    for (let kills = KILLS_BEFORE + 1; kills < KILLS; kills += 1) {
      const running = fixture.start('notify', 'flush', '--wait');
      // The progress decides, so that a fast machine is not ready before.
      const enough = arrivals.length + Math.floor(random.fraction() * 100);
      await running.until(() => arrivals.length >= enough);
      await kill(running);
    }
    expect(struck).toBe(KILLS);
    await fixture.run('notify', 'flush', '--wait');
    const label = `seed ${seed}`;
    const idsOf = new Map<string, Set<string>>();
    for (const { id, eventId } of arrivals) {
      idsOf.set(eventId, (idsOf.get(eventId) ?? new Set()).add(id));
    }
    const lost = Array.from({ length: EVENTS }, (_, index) => `e${index}`).filter(
      (id) => !idsOf.has(id),
    );
    expect([label, lost]).toEqual([label, []]);
    expect([...idsOf.values()].filter((ids) => ids.size !== 1)).toEqual([]);
    const late = arrivals.filter(
      ({ eventId, sentAt }) => eventId.startsWith('s') && sentAt > shortEnds,
    );
    expect([label, late]).toEqual([label, []]);
    const pushed = new Set(fixture.push.accepted.map(({ data }) => data?.['eventId']));
    const unpushed = Array.from({ length: EVENTS }, (_, i) => `e${i}`).filter(
      (id) => !pushed.has(id),
    );
    expect([label, unpushed]).toEqual([label, []]);
    const [left] = await fixture.ok<{ waiting: number }>('notify', 'flush');
    expect(left).toMatchObject({ waiting: 0 });
  });

  it('drops outdated deliveries with a report, and sends none of them late', async () => {
    const receiver = await fixture.webhook('hook', (_request, count) => ({
      status: count === 1 ? 503 : 204,
    }));
    expect(await fixture.notify(1, 'ready', '--session', 's')).toContain('webhook hook: waiting');
    await endTheirTime(fixture);
    const [flushed] = await fixture.lines<{ tried: object[] }>(1, 'notify', 'flush');
    expect(flushed?.tried).toMatchObject([{ state: 'dropped', code: 'expired' }]);
    expect(receiver.received).toHaveLength(1);
    const { stdout } = await fixture.run('deliveries', 'list', '--state', 'dropped');
    expect(stdout).toContain('no longer matters');
  });

  it('does not delay push and other webhooks by a dead, a slow and a redirecting one', async () => {
    await fixture.registerToken(TOKEN);
    const arrived: Record<string, number> = {};
    const healthy = await fixture.webhook('healthy', () => {
      arrived['healthy'] = Date.now();
      return { status: 204 };
    });
    await fixture.webhook('slow', () => 'silence');
    await fixture.ok('channels', 'add', 'http://127.0.0.1:1/', '--id', 'dead');
    await fixture.webhook('redirecting', () => ({
      status: 302,
      headers: { location: healthy.url },
    }));
    const running = fixture.start('notify', 'ready', '--session', 's', '--no-background');
    await running.until(
      () => arrived['healthy'] !== undefined && fixture.push.accepted.length === 1,
    );
    // The slow webhook has not answered yet.
    expect(running.child.exitCode).toBe(null);
    const { code, stdout } = await running.exited;
    expect(code).toBe(1);
    expect(stdout).toMatch(/webhook slow {2}not yet: .*in time/);
    expect(stdout).toMatch(/webhook dead {2}not yet: Nothing listens/);
    expect(stdout).toMatch(/webhook redirecting {2}failed: .*302/);
    expect(healthy.received).toHaveLength(1);
  });

  it('sends a waiting delivery to the address that was corrected in the meantime', async () => {
    await fixture.ok(
      'channels',
      'add',
      'http://127.0.0.1:1/',
      '--id',
      'hook',
      '--secret',
      'long-enough-secret',
    );
    await fixture.notify(1, 'ready', '--session', 's', '--id', 'again');
    await fixture.ok('channels', 'remove', 'hook');
    const receiver = await fixture.webhook('hook', undefined, '--secret', 'long-enough-secret');
    await sleep(1_500);
    await fixture.ok('notify', 'flush');
    const [request] = receiver.received;
    expect(request?.headers['x-service-signature-256']).toMatch(/^sha256=[\da-f]{64}$/);
  });

  it('sends a delivery of a killed process again, without waiting for its lease', async () => {
    const receiver = await fixture.webhook('hook', (_request, count) =>
      count === 1 ? 'silence' : { status: 204 },
    );
    const running = fixture.start('notify', 'ready', '--session', 's', '--no-background');
    await running.until(() => receiver.received.length === 1);
    running.child.kill('SIGKILL');
    await running.exited;
    const id = receiver.received[0]?.headers['webhook-id'] ?? '';
    expect(await fixture.run('deliveries', 'redeliver', id)).toMatchObject({ code: 0 });
    expect(receiver.received).toHaveLength(2);
  });

  it('restricts a delivery to public addresses, whichever command sends it again', async () => {
    const receiver = await fixture.webhook('hook');
    const [event] = await fixture.lines<EventLine>(
      1,
      ...['notify', 'ready', '--session', 's', '--deny-private'],
    );
    const refused = { state: 'failed', code: 'destination-refused' };
    expect(event?.outcomes).toMatchObject([{}, refused]);
    const id = event?.outcomes[1]?.deliveryId ?? '';
    expect(await fixture.lines(1, 'deliveries', 'redeliver', id)).toMatchObject([refused]);
    expect(await fixture.lines(1, 'channels', 'test', 'hook', '--deny-private')).toMatchObject([
      refused,
    ]);
    expect(receiver.received).toEqual([]);
  });
});
