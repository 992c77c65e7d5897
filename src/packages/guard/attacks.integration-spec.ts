import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactEncrypt, CompactSign, type JWTPayload } from 'jose';
import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { waitFor } from '../../../test/helpers/wait.js';
import type { Guard } from './guard.js';
import type { EndReason } from './held-connections.js';
import { EventStream } from './event-streams/event-stream.js';
import { readEventToken } from './event-streams/event-token.js';
import { makeKey, type TestKey } from './testing/test-keys.js';
import { KeySet } from './tokens/key-set.js';

const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';

let fixture: GuardFixture;

function startForEach(): void {
  beforeEach(async () => {
    fixture = await GuardFixture.start();
  });
  afterEach(() => fixture.close());
}

/** For tests that change nothing. */
function startOnce(): void {
  beforeAll(async () => {
    fixture = await GuardFixture.start();
  });
  afterAll(() => fixture.close());
}

const codeOf = (guard: Guard, token: string): Promise<string> =>
  guard.verify(token).then(
    () => 'admitted',
    ({ code }: { readonly code: string }) => code,
  );

/** The token of an unknown key waits until the keys may be read again. */
async function codeAfterRead(guard: Guard, token: string): Promise<string> {
  let outcome: string | null = null;
  void codeOf(guard, token).then((code) => (outcome = code));
  await fixture.until('the outcome', () => outcome !== null);
  return String(outcome);
}

/** Signs with a header that may have any field. */
function signed(
  { alg, privateKey }: TestKey,
  header: Readonly<Record<string, unknown>>,
  claims: JWTPayload | string = fixture.issuer.claims(),
): Promise<string> {
  const text = typeof claims === 'string' ? claims : JSON.stringify(claims);
  return new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ alg, typ: 'at+jwt', ...header })
    .sign(privateKey, { crit: { 'https://attacker.example/ok': true } });
}

const ours = (header: object = {}, claims?: JWTPayload | string): Promise<string> => {
  const key = fixture.issuer.signingKey;
  return signed(key, { kid: key.kid, ...header }, claims);
};

async function encrypted(): Promise<string> {
  const text = new TextEncoder().encode(await fixture.issuer.token());
  return new CompactEncrypt(text)
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: 'at+jwt' })
    .encrypt(new Uint8Array(32));
}

describe('a token', () => {
  startOnce();
  let guard: Guard;
  beforeAll(async () => {
    guard = await fixture.readyGuard();
  });

  it.each(['jku', 'x5u', 'jwk', 'x5c'])('brings no key of its own in %s', async (field) => {
    const key = await makeKey('ES256');
    const url = `${fixture.issuer.url}/attacker`;
    const value = { jku: url, x5u: url, jwk: key.publicJwk, x5c: [key.kid] }[field];
    for (const kid of [key.kid, fixture.issuer.signingKey.kid, undefined]) {
      const token = await signed(key, { kid, [field]: value });
      expect(await codeAfterRead(guard, token)).toBe('invalid-token');
    }
    expect(fixture.issuer.requestsTo('/attacker')).toBe(0);
    // A genuine key signs what it likes: such a field has no effect.
    expect(await codeOf(guard, await ours({ [field]: value }))).toBe('admitted');
  });

  it.each(['', '__proto__', 'constructor', '../../../dev/null', "' OR 1=1", 7, ['a'], {}, null])(
    'selects no key by the key id %j',
    async (kid) => {
      const token = await signed(await makeKey('ES256'), { kid });
      expect(await codeAfterRead(guard, token)).toBe('invalid-token');
    },
  );

  it.each([
    [
      'an unknown critical field',
      { crit: ['https://attacker.example/ok'], 'https://attacker.example/ok': 1 },
    ],
    ['no type', { typ: undefined }],
    ['the type of an identity token', { typ: 'JWT' }],
    ['a type that is no text', { typ: ['at+jwt'] }],
  ])('is refused with %s, though the key is genuine', async (_what, header) => {
    expect(await codeOf(guard, await ours(header))).toBe('invalid-token');
  });

  it.each([
    ['begins later', { nbf: 1_900_000_000 }],
    ['expires at a text', { exp: '1900000000' }],
    ['has no number as its start', { iat: null }],
    ['has a list of one audience', { aud: ['https://backend.test'] }],
    ['has an issuer with a slash', { iss: 'https://gate.example.com/' }],
    ['names a session of 257 characters', { sid: 'x'.repeat(257) }],
    ['has a session that ends at a text', { session_exp: '1900000000' }],
  ])('is refused if it %s', async (_what, changed) => {
    const claims = { ...fixture.issuer.claims(), ...changed } as JWTPayload;
    expect(await codeOf(guard, await ours({}, claims))).toBe('invalid-token');
  });

  it('takes no claim from a prototype', async () => {
    const { sid, ...claims } = fixture.issuer.claims();
    const text = JSON.stringify(claims).replace('{', `{"__proto__":{"sid":"${String(sid)}"},`);
    expect(await codeOf(guard, await ours({}, text))).toBe('invalid-token');
  });

  it('is refused if it is encrypted, repeats its parts or is JSON', async () => {
    const token = await fixture.issuer.token();
    const [head, payload, signature] = token.split('.');
    const json = JSON.stringify({ protected: head, payload, signature });
    for (const text of [
      await encrypted(),
      `${token}.${token}`,
      `${token}=`,
      `${token}\u0000`,
      json,
    ]) {
      expect([text, await codeOf(guard, text)]).toEqual([text, 'invalid-token']);
    }
  });

  it('is accepted a minute before its start by a clock that is late, and not earlier', async () => {
    const claims = fixture.issuer.claims();
    const issuedIn = (seconds: number): Promise<string> =>
      ours({}, { ...claims, iat: (claims.iat ?? 0) + seconds });
    expect(await codeOf(guard, await issuedIn(60))).toBe('admitted');
    expect(await codeOf(guard, await issuedIn(61))).toBe('invalid-token');
  });
});

const ended = (id: string): JWTPayload => ({
  sub_id: { format: 'complex', session: { format: 'opaque', id } },
  events: { [REVOKED]: {} },
});

describe(EventStream.name, () => {
  startForEach();

  it('applies a signal once, also if it is delivered again and out of order', async () => {
    const guard = await fixture.readyGuard();
    const access = await guard.verify(await fixture.issuer.token({ sid: 'leaver' }));
    const ends: EndReason[] = [];
    guard.hold(access, (reason) => ends.push(reason));
    const seen: unknown[] = [];
    guard.watch(({ sid }) => seen.push(sid));
    const before = Math.floor(fixture.time.now() / 1000) - 3000;
    await fixture.issuer.signal(ended('leaver'));
    await fixture.issuer.signal({ ...ended('leaver'), iat: before });
    await fixture.issuer.signal(ended('last'));
    await waitFor('the last signal', () => seen.includes('last'));
    expect(ends).toEqual(['session-revoked']);
    expect(await codeOf(guard, await fixture.issuer.token({ sid: 'leaver' }))).toBe(
      'token-revoked',
    );
    expect(guard.isReady).toBe(true);
  });

  it('applies the signals next to one that is not valid, which ends the lease', async () => {
    const guard = await fixture.readyGuard();
    const seen: unknown[] = [];
    guard.watch(({ sid }) => seen.push(sid));
    await fixture.issuer.signal(ended('forged'), await makeKey('RS256'));
    await fixture.issuer.endSession('leaver');
    await fixture.until('the end', () => seen.includes('leaver'));
    expect(guard.isReady).toBe(true);
    await fixture.until('the lease expires', () => !guard.isReady);
    expect(seen).not.toContain('forged');
  });
});

describe(readEventToken.name, () => {
  startOnce();

  const read = async (key: TestKey, typ: string | undefined, claims: JWTPayload = {}) => {
    const { url, resource, signingKey, signalSigningKey } = fixture.issuer;
    const now = fixture.time.now();
    const set = { keys: [signingKey.publicJwk, signalSigningKey.publicJwk] };
    const { time: clock, timers } = fixture;
    const keys = new KeySet(() => Promise.resolve(set), { clock, timers });
    const all = { ...ended('x'), iss: url, aud: resource, iat: now / 1000, jti: 'j', ...claims };
    const token = await signed(key, { kid: key.kid, typ }, all);
    return readEventToken(token, keys, { issuer: url, audience: resource, jti: 'j', now });
  };

  it('reads a signal', async () => {
    const signal = await read(fixture.issuer.signalSigningKey, 'secevent+jwt');
    expect(signal).toEqual({ type: 'session-revoked', sid: 'x' });
  });

  it.each([
    ['an access token', 'signalSigningKey', 'at+jwt', {}],
    ['a token without a type', 'signalSigningKey', undefined, {}],
    ['a signal of the key of access tokens', 'signingKey', 'secevent+jwt', {}],
    ['a signal with an end that has passed', 'signalSigningKey', 'secevent+jwt', { exp: 1 }],
    ['a signal without its time', 'signalSigningKey', 'secevent+jwt', { iat: undefined }],
    ['a session of a list', 'signalSigningKey', 'secevent+jwt', { sub_id: { session: ['x'] } }],
  ] as const)('refuses %s', async (_what, key, typ, claims) => {
    await expect(read(fixture.issuer[key], typ, claims as JWTPayload)).rejects.toThrow();
  });
});

describe('a stream that stalls', () => {
  startForEach();
  /** Answers of polls while `isStalled`; a null body has no end. */
  let stalled: Server;
  let body: string | null;
  let isStalled: boolean;
  let polls: number;
  beforeEach(async () => {
    [isStalled, polls] = [false, 0];
    stalled = createServer((_request, response) => {
      polls += 1;
      response.setHeader('date', new Date(fixture.time.now()).toUTCString());
      response.write(body ?? '{');
      if (body !== null) {
        response.end();
      }
    });
    stalled.listen(0, '127.0.0.1');
    await once(stalled, 'listening');
  });
  afterEach(() => {
    stalled.close();
    stalled.closeAllConnections();
  });

  it.each([
    ['sends no end of its answer', null],
    ['answers with a text', 'ok'],
    ['answers without sets', '{"moreAvailable":false}'],
    ['answers with a list of sets', '{"sets":["x"],"moreAvailable":false}'],
    ['says in another way that there is no more', '{"sets":{},"moreAvailable":"false"}'],
    ['answers with more than four megabytes', ' '.repeat(4 * 1024 * 1024 + 1)],
  ])('ends the lease if it %s', async (_what, answer) => {
    body = answer;
    const { port } = stalled.address() as AddressInfo;
    const guard = await fixture.readyGuard({
      fetch: (url, init) => {
        const isPoll = isStalled && String(url).includes('/poll/');
        return fetch(isPoll ? `http://127.0.0.1:${port}` : url, init);
      },
    });
    const token = await fixture.issuer.token({ tokenSeconds: 900 });
    isStalled = true;
    await fixture.issuer.signal(ended('wakes the poll'));
    await waitFor('the poll stalls', () => polls > 0);
    await fixture.until('the lease expires', () => !guard.isReady, 10_000);
    expect(await codeOf(guard, token)).toBe('guard-lease-expired');
    isStalled = false;
    await fixture.until('the guard is ready', () => guard.isReady);
    expect(await codeOf(guard, token)).toBe('admitted');
  });
});

describe('a log that fails', () => {
  startForEach();

  it('keeps no connection open', async () => {
    const guard = await fixture.readyGuard({
      log: () => {
        throw new Error('The log is full.');
      },
    });
    const access = await guard.verify(await fixture.issuer.token());
    const ends: EndReason[] = [];
    guard.hold(access, (reason) => ends.push(reason));
    fixture.issuer.isAvailable = false;
    await fixture.time.advance(41_000);
    expect(ends).toEqual(['guard-lease-expired']);
    fixture.issuer.isAvailable = true;
    await fixture.until('the guard is ready', () => guard.isReady);
  });
});
