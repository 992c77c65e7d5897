import { randomBytes, randomUUID } from 'node:crypto';
import { isSealedBy, nextState, readRefreshToken, refreshTokenOf } from './refresh-token.js';

const HOUR_MS = 3_600_000;
const NOW = 1_800_000_000_000;

describe(readRefreshToken.name, () => {
  const key = randomBytes(32);
  const grantId = randomUUID();

  it('reads the grant and the generation, and verifies the seal', () => {
    const read = readRefreshToken(refreshTokenOf(key, grantId, 7));
    expect(read).toMatchObject({ grantId, generation: 7 });
    expect(read !== null && isSealedBy(key, read)).toBe(true);
    expect(read !== null && isSealedBy(randomBytes(32), read)).toBe(false);
    expect(read !== null && isSealedBy(key, { ...read, generation: 8 })).toBe(false);
    expect(read !== null && isSealedBy(key, { ...read, grantId: randomUUID() })).toBe(false);
  });

  it.each(['', 'x', `${refreshTokenOf(key, grantId, 0)}A`, `${refreshTokenOf(key, grantId, 0)}=`])(
    'refuses %j',
    (text) => {
      expect(readRefreshToken(text)).toBeNull();
    },
  );
});

describe(nextState.name, () => {
  it('supersedes the newest token, but not within a minute', () => {
    const first = { generation: 0, supersededAt: [] };
    expect(nextState(0, first, NOW, NOW + 59_000)).toEqual(first);
    const next = { generation: 1, supersededAt: [NOW + 60_000] };
    expect(nextState(0, first, NOW, NOW + 60_000)).toEqual(next);
    expect(nextState(1, next, NOW, NOW + 61_000)).toEqual(next);
  });

  it('gives the newest token for one that was superseded within an hour', () => {
    const state = { generation: 3, supersededAt: [NOW - HOUR_MS, NOW - 1000] };
    expect(nextState(2, state, 0, NOW)).toEqual(state);
    expect(nextState(1, state, 0, NOW)).toEqual(state);
  });

  it('refuses an older one, and one that was never issued', () => {
    const state = { generation: 3, supersededAt: [NOW - HOUR_MS - 1, NOW - 1000] };
    expect(nextState(1, state, 0, NOW)).toBeNull();
    expect(nextState(0, state, 0, NOW)).toBeNull();
    expect(nextState(4, state, 0, NOW)).toBeNull();
  });
});
