import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../test/fixtures/manual-timers.js';
import { AppError } from '../../common/errors.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { HandshakeQueueService } from './handshake-queue.service.js';

const PER_TURN = 16;
const MAX_ASKING = 32;
const MAX_WAITING = 40;
const REFUSED = {
  code: 'unavailable',
  extras: { retryAfterSeconds: expect.any(Number) as number },
};

let clock: ManualClock;
let queue: HandshakeQueueService;
let events: string[];

beforeEach(() => {
  const { settings } = resolveSettings({
    SERVICE_UPDATES_MAX_WAITING_HANDSHAKES: `${MAX_WAITING}`,
  });
  clock = new ManualClock(1_000_000);
  queue = new HandshakeQueueService(settings.updates, new Runtime(clock, new ManualTimers(clock)));
  events = [];
});
afterEach(() => queue.onApplicationShutdown());

const never = (): Promise<never> => new Promise(() => undefined);

function upgrades(count: number): void {
  const log = events;
  for (let index = 0; index < count; index += 1) {
    Promise.resolve(queue.turn()).then(
      () => log.push('upgrade'),
      (error: unknown) => log.push((error as AppError).code),
    );
  }
}

function connects(count: number, ask: () => Promise<unknown> = () => Promise.resolve()): void {
  const log = events;
  for (let index = 0; index < count; index += 1) {
    Promise.resolve(queue.ask(ask)).then(
      () => log.push('connect'),
      (error: unknown) => log.push((error as AppError).code),
    );
  }
}

describe(HandshakeQueueService.name, () => {
  it('begins a few in each turn of the event loop', async () => {
    upgrades(2 * PER_TURN + 1);
    await Promise.resolve();
    expect(events).toHaveLength(PER_TURN);
    await clock.turn();
    expect(events).toHaveLength(2 * PER_TURN);
    await clock.turn();
    expect(events).toHaveLength(2 * PER_TURN + 1);
  });

  it('refuses connections beyond its limit, with a time to return', async () => {
    upgrades(PER_TURN + MAX_WAITING);
    expect(queue.refusalNow()).toMatchObject(REFUSED);
    expect(() => queue.turn()).toThrow(expect.objectContaining(REFUSED));
    expect(() => queue.ask(() => 'asked')).toThrow(expect.objectContaining(REFUSED));
    await clock.turn();
    expect(queue.refusalNow()).toBeNull();
  });

  it('continues an open connection before it opens another', async () => {
    upgrades(2 * PER_TURN);
    let calls = 0;
    connects(PER_TURN, async () => {
      calls += 1;
    });
    await clock.turn();
    expect(calls).toBe(PER_TURN);
    expect(events.filter((event) => event === 'upgrade')).toHaveLength(PER_TURN);
  });

  it('queries storage for a bounded number, and opens no more while others wait', async () => {
    let calls = 0;
    let answer: (() => void) | undefined;
    const held = new Promise<void>((done) => (answer = done));
    const ask = (): Promise<void> => {
      calls += 1;
      return held;
    };
    for (let turn = 0; turn < MAX_ASKING / PER_TURN; turn += 1) {
      connects(PER_TURN, ask);
      await clock.turn();
    }
    connects(1, ask);
    upgrades(1);
    await clock.turn();
    expect(calls).toBe(MAX_ASKING);
    expect(events).toEqual([]);
    answer?.();
    await clock.turn();
    await clock.turn();
    expect(calls).toBe(MAX_ASKING + 1);
    expect(events).toHaveLength(MAX_ASKING + 2);
  });

  it('refuses all connections for a while when storage does not answer', async () => {
    connects(1, () => Promise.reject(new AppError('unavailable')));
    upgrades(PER_TURN + 4);
    await clock.turn();
    expect(events.filter((event) => event === 'unavailable').length).toBeGreaterThan(1);
    expect(queue.refusalNow()).toMatchObject(REFUSED);
    await clock.advance(999);
    expect(queue.refusalNow()).toMatchObject(REFUSED);
    await clock.advance(1);
    expect(queue.refusalNow()).toBeNull();
  });

  it('returns the refusal of a client, and serves the next', async () => {
    const refused = new AppError('missing-token');
    const refuse = (): never => {
      throw refused;
    };
    expect(() => queue.ask(refuse)).toThrow(refused);
    await expect(queue.ask(() => Promise.reject(refused))).rejects.toBe(refused);
    expect(queue.ask(() => 'asked')).toBe('asked');
    await expect(queue.ask(() => Promise.resolve('asked'))).resolves.toBe('asked');
    upgrades(PER_TURN);
    // Waiting connections have the same limit.
    const waiting = [queue.ask(refuse), queue.ask(() => 'asked')];
    const outcomes = Promise.allSettled(waiting.map((one) => Promise.resolve(one)));
    await clock.turn();
    expect(await outcomes).toEqual([
      { status: 'rejected', reason: refused },
      { status: 'fulfilled', value: 'asked' },
    ]);
  });

  it('refuses connections that have waited for too long', async () => {
    connects(1, never);
    await clock.advance(1900);
    expect(events).toEqual([]);
    await clock.advance(1000);
    expect(events).toEqual(['unavailable']);
  });

  it('lets HTTP requests wait for longer, then refuses the oldest', async () => {
    // Storage answers each of them in time, and one more than it takes always waits.
    let answers: (() => void)[] = [];
    const ask = (): Promise<void> => new Promise((done) => answers.push(done));
    const answerAll = async (): Promise<void> => {
      const asked = answers;
      answers = [];
      connects(asked.length || MAX_ASKING + 1, ask);
      asked.forEach((answer) => answer());
      for (let turn = 0; turn <= MAX_ASKING / PER_TURN; turn += 1) {
        await clock.turn();
      }
    };
    await answerAll();
    upgrades(1);
    for (let seconds = 0; seconds < 12; seconds += 1) {
      await clock.advance(1000);
      expect(answers).toHaveLength(MAX_ASKING);
      await answerAll();
    }
    expect(events).not.toContain('unavailable');
    await clock.advance(600);
    expect(events).toContain('unavailable');
    expect(events).not.toContain('upgrade');
  });
});
