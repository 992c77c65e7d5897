import { ERRORS, type ErrorCode } from '../../../common/errors.js';
import { GatehouseProblem } from '../api/problem.js';
import { reconnectDelayMs } from './connect-updates.js';

const TEMPORARY: readonly ErrorCode[] = ['rate-limited', 'internal', 'unavailable'];

describe('a reconnect', () => {
  it.each(Object.entries(ERRORS))('marks %s as temporary or final', (code, { status, message }) => {
    const expected = TEMPORARY.some((one) => one === code);
    expect(new GatehouseProblem({ status, code, message }).isTemporary).toBe(expected);
  });
});

describe(reconnectDelayMs.name, () => {
  it.each<[string, Parameters<typeof reconnectDelayMs>, number]>([
    ['starts soon', [0, undefined, 0], 500],
    ['doubles', [3, undefined, 0], 4000],
    ['ends at half a minute', [40, undefined, 0], 30_000],
    ['waits as long as the server requests', [0, 10, 0], 10_000],
    ['waits as long as the server requests, at each attempt', [9, 10, 0], 10_000],
    ['accepts a hint of zero seconds', [9, 0, 1], 0],
    ['spreads upwards only', [0, 10, 1], 15_000],
    ['waits an hour and a half at most', [0, Number.MAX_VALUE, 1], 5_400_000],
  ])('%s', (_name, args, expected) => {
    expect(reconnectDelayMs(...args)).toBe(expected);
  });
});
