import { EventEmitter } from 'node:events';
import { ERRORS, type ErrorCode } from '../../../common/errors.js';
import { GatehouseProblem } from '../api/problem.js';
import { reconnectDelayMs, UpdateConnection, type UpdateHandlers } from './connect-updates.js';
import { UpdateSequence, type UpdateGap } from './update-sequence.js';

type Socket = ConstructorParameters<typeof UpdateConnection>[0];

/** A connection to a server that the test plays. */
function connection(handlers: UpdateHandlers, now?: () => number) {
  const ignore = (): void => undefined;
  const server = Object.assign(new EventEmitter(), { connect: ignore, disconnect: ignore });
  const updates = new UpdateConnection(
    server as unknown as Socket,
    handlers,
    new UpdateSequence(0),
    now,
  );
  return { server, updates };
}

const TEMPORARY: readonly ErrorCode[] = ['rate-limited', 'internal', 'unavailable'];

describe('a reconnect', () => {
  it.each(Object.entries(ERRORS))('marks %s as temporary or final', (code, { status, message }) => {
    const expected = TEMPORARY.some((one) => one === code);
    expect(new GatehouseProblem({ status, code, message }).isTemporary).toBe(expected);
  });
});

describe(UpdateConnection.name, () => {
  it('reports gaps at once where a server leaves out very many updates', () => {
    const gaps: UpdateGap[] = [];
    const { server, updates } = connection({ onGap: (gap) => gaps.push(gap) });
    for (let seq = 2; seq <= 20_000; seq += 2) {
      server.emit('update', { seq, body: { t: 'x' } });
    }
    updates.close();
    expect(gaps).toHaveLength(10);
    expect(gaps.at(-1)?.to).toBe(19_999);
    expect(updates.position).toBe(20_000);
  });
});

describe(`${UpdateConnection.name} that ends`, () => {
  it('waits longer while connections end soon, and begins again after one that lasted', () => {
    const delays: number[] = [];
    let now = 0;
    const { server, updates } = connection(
      { onWaiting: (_problem, ms) => delays.push(ms) },
      () => now,
    );
    for (const lastsMs of [0, 1000, 1000, 30_000, 1000]) {
      server.emit('hello', { accountId: 'a', seq: 0 });
      now += lastsMs;
      server.emit('disconnect');
    }
    updates.close();
    const bases = [500, 1000, 2000, 500, 1000];
    expect(delays.map((ms, index) => ms >= bases[index]! && ms <= bases[index]! * 1.5)).toEqual(
      bases.map(() => true),
    );
  });
});

describe(reconnectDelayMs.name, () => {
  it.each<[string, Parameters<typeof reconnectDelayMs>, number]>([
    ['starts soon', [0, undefined, 0], 500],
    ['doubles', [3, undefined, 0], 4000],
    ['ends at half a minute', [40, undefined, 0], 30_000],
    ['waits as long as the server requests', [0, 10, 0], 10_000],
    ['waits as long as the server requests, at each attempt', [9, 10, 0], 10_000],
    ['waits half a second where the server requests no delay', [9, 0, 0], 500],
    ['spreads upwards only', [0, 10, 1], 15_000],
    ['waits an hour and a half at most', [0, Number.MAX_VALUE, 1], 5_400_000],
  ])('%s', (_name, args, expected) => {
    expect(reconnectDelayMs(...args)).toBe(expected);
  });
});
