import { setImmediate as nextTurn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { AppError } from '../common/errors.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { HandshakeQueue } from './handshake-queue.js';

const PER_TURN = 16;
const MAX_ASKING = 32;
const MAX_WAITING = 40;
const REFUSED = {
  code: 'unavailable',
  extras: { retryAfterSeconds: expect.any(Number) as number },
};

let queue: HandshakeQueue;
let events: string[];

beforeEach(() => {
  const { settings } = resolveSettings({
    SERVICE_UPDATES_MAX_WAITING_HANDSHAKES: `${MAX_WAITING}`,
  });
  queue = new HandshakeQueue(settings.updates);
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

describe(HandshakeQueue.name, () => {
  it('begins a few in each turn of the event loop', async () => {
    upgrades(2 * PER_TURN + 1);
    await Promise.resolve();
    expect(events).toHaveLength(PER_TURN);
    await nextTurn();
    expect(events).toHaveLength(2 * PER_TURN);
    await nextTurn();
    expect(events).toHaveLength(2 * PER_TURN + 1);
  });

  it('refuses one more than may wait, with a time to return', async () => {
    upgrades(PER_TURN + MAX_WAITING);
    expect(queue.refusalNow()).toMatchObject(REFUSED);
    expect(() => queue.turn()).toThrow(expect.objectContaining(REFUSED));
    expect(() => queue.ask(() => 'asked')).toThrow(expect.objectContaining(REFUSED));
    await nextTurn();
    expect(queue.refusalNow()).toBeNull();
  });

  it('continues a connection that is open before it opens another', async () => {
    upgrades(2 * PER_TURN);
    let asked = 0;
    connects(PER_TURN, async () => {
      asked += 1;
    });
    await nextTurn();
    expect(asked).toBe(PER_TURN);
    expect(events.filter((event) => event === 'upgrade')).toHaveLength(PER_TURN);
  });

  it('asks storage for a bounded number, and opens no more while others wait to ask', async () => {
    let asked = 0;
    let answer: (() => void) | undefined;
    const held = new Promise<void>((done) => (answer = done));
    const ask = (): Promise<void> => {
      asked += 1;
      return held;
    };
    for (let turn = 0; turn < MAX_ASKING / PER_TURN; turn += 1) {
      connects(PER_TURN, ask);
      await nextTurn();
    }
    connects(1, ask);
    upgrades(1);
    await nextTurn();
    expect(asked).toBe(MAX_ASKING);
    expect(events).toEqual([]);
    answer?.();
    await nextTurn();
    await nextTurn();
    expect(asked).toBe(MAX_ASKING + 1);
    expect(events).toHaveLength(MAX_ASKING + 2);
  });

  it('refuses all for a while when storage cannot answer', async () => {
    connects(1, () => Promise.reject(new AppError('unavailable')));
    upgrades(PER_TURN + 4);
    await nextTurn();
    expect(events.filter((event) => event === 'unavailable').length).toBeGreaterThan(1);
    expect(queue.refusalNow()).toMatchObject(REFUSED);
  });

  it('passes on what a client is refused for, and serves the next', async () => {
    const refused = new AppError('missing-token');
    const refuse = (): never => {
      throw refused;
    };
    expect(() => queue.ask(refuse)).toThrow(refused);
    await expect(queue.ask(() => Promise.reject(refused))).rejects.toBe(refused);
    expect(queue.ask(() => 'asked')).toBe('asked');
    await expect(queue.ask(() => Promise.resolve('asked'))).resolves.toBe('asked');
    upgrades(PER_TURN);
    // The same for those that have to wait.
    const waiting = [queue.ask(refuse), queue.ask(() => 'asked')];
    await expect(waiting[0]).rejects.toBe(refused);
    await expect(waiting[1]).resolves.toBe('asked');
  });

  it('refuses those that have waited for too long', async () => {
    jest.useFakeTimers();
    connects(1, never);
    await jest.advanceTimersByTimeAsync(1900);
    expect(events).toEqual([]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(events).toEqual(['unavailable']);
    jest.useRealTimers();
  });
});
