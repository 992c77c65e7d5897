import type { JWTPayload } from 'jose';
import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../../test/fixtures/manual-timers.js';
import { makeKey, signWith, type TestKey } from '../testing/test-keys.js';
import { KeySet } from '../tokens/key-set.js';
import { readEventToken, type SessionEvent } from './event-token.js';

const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
const UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated';
const SESSION = { format: 'opaque', id: 'one' };
const START = Date.UTC(2026, 9, 1);

let key: TestKey;
let keys: KeySet;
beforeAll(async () => {
  key = await makeKey('RS256');
  const clock = new ManualClock();
  const runtime = { clock, timers: new ManualTimers(clock) };
  keys = new KeySet(() => Promise.resolve({ keys: [key.publicJwk] }), runtime);
});

/** Signs claims as the transmitter does, and reads them. */
async function read(claims: JWTPayload): Promise<SessionEvent> {
  const expected = { issuer: 'https://gate.example', audience: 'https://relay.example', jti: 'j' };
  const { issuer: iss, audience: aud, jti } = expected;
  const token = await signWith(key, 'secevent+jwt', {
    iss,
    aud,
    jti,
    iat: START / 1000,
    ...claims,
  });
  return readEventToken(token, keys, { ...expected, now: START });
}

describe(readEventToken.name, () => {
  it('reads the session that ended', async () => {
    const signal = await read({
      sub_id: { format: 'complex', session: SESSION },
      events: { [REVOKED]: {} },
    });
    expect(signal).toEqual({ type: 'session-revoked', sid: 'one' });
  });

  it.each([
    {},
    { 'https://example.com/event': {} },
    { [UPDATED]: { status: 'enabled' } },
    null,
    7,
    'x',
  ])('reads nothing in the events %j', async (events) => {
    expect(await read({ events })).toEqual({ type: 'other' });
  });

  it.each([{ status: 'paused' }, { status: 'disabled' }, {}, null, 'enabled'])(
    'reads a stopped stream in its update %j',
    async (update) => {
      expect(await read({ events: { [UPDATED]: update } })).toEqual({ type: 'stream-stopped' });
    },
  );

  it.each([
    undefined,
    null,
    'one',
    SESSION,
    { format: 'complex' },
    { format: 'complex', session: null },
    { format: 'complex', session: 'one' },
    { format: 'other', session: SESSION },
    { format: 'complex', session: { ...SESSION, format: 'other' } },
    { format: 'complex', session: { ...SESSION, id: '' } },
    { format: 'complex', session: { ...SESSION, id: 7 } },
    { format: 'complex', session: { format: 'opaque' } },
  ])('refuses a revocation of %j', async (subject) => {
    const signal = read({ sub_id: subject, events: { [REVOKED]: {} } });
    await expect(signal).rejects.toThrow('The revocation names no session.');
  });

  it('refuses a signal with another id than its delivery', async () => {
    const signal = read({ jti: 'other', events: {} });
    await expect(signal).rejects.toThrow('The signal has another id than its delivery.');
  });
});
