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
const ISSUER = 'https://gate.example';
const AUDIENCE = 'https://relay.example';

let key: TestKey;
let accessKey: TestKey;
let keys: KeySet;
beforeAll(async () => {
  [key, accessKey] = await Promise.all([makeKey('RS256'), makeKey('ES256')]);
  const clock = new ManualClock();
  const runtime = { clock, timers: new ManualTimers(clock) };
  const set = { keys: [key.publicJwk, accessKey.publicJwk] };
  keys = new KeySet(() => Promise.resolve(set), runtime);
});

/** Signs claims as the transmitter does, and reads them. */
async function read(claims: JWTPayload, typ = 'secevent+jwt', by = key): Promise<SessionEvent> {
  const issued = { iss: ISSUER, aud: AUDIENCE, jti: 'j', iat: START / 1000 };
  const token = await signWith(by, typ, { ...issued, ...claims });
  const expected = { issuer: ISSUER, audience: AUDIENCE, jti: 'j' };
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

  it.each<[string, JWTPayload]>([
    ['another issuer', { iss: 'https://other.example' }],
    ['another audience', { aud: 'https://other.example' }],
    ['an end that has passed', { exp: 1 }],
    ['no time', { iat: undefined }],
    ['no events', { events: undefined }],
  ])('refuses a signal with %s', async (_what, claims) => {
    const signal = read({ events: {}, ...claims });
    await expect(signal).rejects.toMatchObject({ claim: expect.any(String) as string });
  });

  it.each(['at+jwt', 'JWT', ''])('refuses a token of the type %j', async (typ) => {
    await expect(read({ events: {} }, typ)).rejects.toMatchObject({ claim: 'typ' });
  });

  it('refuses a signal of the key of access tokens', async () => {
    await expect(read({ events: {} }, 'secevent+jwt', accessKey)).rejects.toThrow('alg');
  });

  it('refuses a signal with another id than its delivery', async () => {
    const signal = read({ jti: 'other', events: {} });
    await expect(signal).rejects.toThrow('The signal has another id than its delivery.');
  });
});
