import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Notifying, notifyInEachTest } from '../../fixtures/notify-fixture.js';
import type { RunningCli } from '../../fixtures/programs/cli-fixture.js';
import { SeededRandom } from '../../fixtures/seeded-random.js';

const EVENTS = 400;
const SHORT_LIVED = 40;
const KILLS = 10;
const KILLS_BEFORE = 3;
const BEFORE_ACCEPTED = 80;
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

describe('the spool, killed', () => {
  it(`delivers ${EVENTS} events at least once although its process is killed ${KILLS} times`, async () => {
    const seed = Number(process.env['GATEHOUSE_TEST_SEED'] ?? Date.now() % 1_000_000);
    const random = new SeededRandom(seed);
    const arrivals: { id: string; eventId: string; sentAt: number }[] = [];
    // Every tenth attempt fails, so that entries wait, return to the queue and are tried by other
    // processes. No entry fails more than twice, because the delay grows with each attempt.
    const failures = new Map<string, number>();
    // Until the spool has all events, deliveries wait: on a fast machine few would be left for the later kills.
    const accepted = new AbortController();
    await fixture.webhook('hook', async ({ headers, rawBody }) => {
      await sleep(30);
      if (!accepted.signal.aborted && arrivals.length >= BEFORE_ACCEPTED) {
        await once(accepted.signal, 'abort');
        return { status: 503 };
      }
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
    accepted.abort();
    // From here on no event is sent again, so an event that the spool lost would be missing.
    for (let kills = KILLS_BEFORE + 1; kills < KILLS; kills += 1) {
      const running = fixture.start('notify', 'flush', '--wait');
      // The progress decides, so that a fast machine is not ready before.
      const enough = arrivals.length + Math.floor(random.fraction() * 40);
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
});
