import { createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import {
  CompactSign,
  exportSPKI,
  importJWK,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type JWTPayload,
} from 'jose';
import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import type { Guard } from './guard.js';
import { readOptions, type GuardOptions } from './guard-options.js';
import { EndedSessions } from './event-streams/ended-sessions.js';
import { makeKey, signWith } from './testing/test-keys.js';
import { TokenVerifier } from './tokens/token-verifier.js';

let fixture: GuardFixture;
let guard: Guard;
beforeAll(async () => {
  fixture = await GuardFixture.start();
  guard = await fixture.readyGuard();
});
afterAll(() => fixture.close());

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const signed = (header: object, claims: JWTPayload): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({
      alg: 'ES256',
      typ: 'at+jwt',
      kid: fixture.issuer.signingKey.kid,
      ...header,
    })
    .sign(fixture.issuer.signingKey.privateKey);

async function hmacWithPublicKey(): Promise<string> {
  const { publicJwk, kid } = fixture.issuer.signingKey;
  const key = await exportSPKI((await importJWK(publicJwk, 'ES256')) as CryptoKey);
  const content = `${encode({ alg: 'HS256', typ: 'at+jwt', kid })}.${encode(fixture.issuer.claims())}`;
  return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`;
}

function signedText(text: string): Promise<string> {
  const { alg, kid, privateKey } = fixture.issuer.signingKey;
  return new CompactSign(Buffer.from(text))
    .setProtectedHeader({ alg, kid, typ: 'at+jwt' })
    .sign(privateKey);
}

const repeated = (name: string, value: unknown): Promise<string> =>
  signedText(
    JSON.stringify(fixture.issuer.claims()).replace(/^\{/, `{"${name}":${JSON.stringify(value)},`),
  );

const FORGED: readonly (readonly [string, () => Promise<string> | string])[] = [
  ['no JWT', () => 'x'],
  ['a text of two parts', () => 'a.b'],
  ['alg none', () => new UnsecuredJWT(fixture.issuer.claims()).encode()],
  ['HS256 with the public key', hmacWithPublicKey],
  [
    'another key of the same id',
    async () => {
      const key = { ...(await makeKey('ES256')), kid: fixture.issuer.signingKey.kid };
      return signWith(key, 'at+jwt', fixture.issuer.claims());
    },
  ],
  [
    'the key of signals',
    () => signWith(fixture.issuer.signalSigningKey, 'at+jwt', fixture.issuer.claims()),
  ],
  ['another type', () => signed({ typ: 'JWT' }, fixture.issuer.claims())],
  ['the type of signals', () => signed({ typ: 'secevent+jwt' }, fixture.issuer.claims())],
  ['another audience', () => signed({}, { ...fixture.issuer.claims(), aud: 'https://files.test' })],
  [
    'several audiences',
    () =>
      signed(
        {},
        { ...fixture.issuer.claims(), aud: ['https://backend.test', 'https://files.test'] },
      ),
  ],
  [
    'another issuer',
    () => signed({}, { ...fixture.issuer.claims(), iss: 'https://other.example' }),
  ],
  [
    'a time that is to come',
    () => signed({}, { ...fixture.issuer.claims(), iat: 1_900_000_000, exp: 1_900_000_300 }),
  ],
  ['a life that is too long', () => fixture.issuer.token({ tokenSeconds: 901 })],
  ['an ended lifetime of the session', () => fixture.issuer.token({ sessionSeconds: -1 })],
  ...['sub', 'sid', 'client_id', 'iat', 'exp', 'session_exp', 'login_method'].map(
    (name) =>
      [`no ${name}`, () => signed({}, { ...fixture.issuer.claims(), [name]: undefined })] as const,
  ),
  ['a session that is no text', () => signed({}, { ...fixture.issuer.claims(), sid: ['a'] })],
  ['an infinite life', () => signed({}, { ...fixture.issuer.claims(), exp: 1e300 })],
  ['a repeated account', () => repeated('sub', 'another')],
  ['a repeated account with an escape', () => repeated('s\\u0075b', 'another')],
  ['a text that is too long', () => fixture.issuer.token({ login: 'x'.repeat(8192) })],
];

describe(TokenVerifier.name, () => {
  it('admits a token, with or without the word Bearer', async () => {
    const session = { account: 'ada', sid: 's', login: 'ada-l', email: 'ada@example.com' };
    const token = await fixture.issuer.token(session);
    const access = await guard.verify(token);
    expect(access).toMatchObject({ ...session, loginMethod: 'device-key' });
    expect(access.expiresAt.getTime() - fixture.time.now()).toBe(300_000);
    expect(access.sessionExpiresAt.getTime() - fixture.time.now()).toBe(86_400_000);
    expect(await guard.verify(`Bearer ${token}`)).toEqual(access);
  });

  it.each(FORGED)('refuses %s', async (_what, make) => {
    const token = await make();
    await expect(guard.verify(token)).rejects.toMatchObject({
      ...{ status: 401, code: 'invalid-token' },
      wwwAuthenticate:
        'Bearer error="invalid_token", error_description="The access token is not valid here.", ' +
        'resource_metadata="https://backend.test/.well-known/oauth-protected-resource"',
    });
  });

  it('refuses an expired token', async () => {
    const token = await fixture.issuer.token({ tokenSeconds: 0 });
    await expect(guard.verify(token)).rejects.toMatchObject({ status: 401, code: 'token-expired' });
  });

  it.each([undefined, null, '', 'Bearer '])('refuses %j as no token', async (token) => {
    await expect(guard.verify(token)).rejects.toMatchObject({
      ...{ status: 401, code: 'missing-token' },
      wwwAuthenticate:
        'Bearer resource_metadata="https://backend.test/.well-known/oauth-protected-resource"',
    });
  });
});

describe('keys', () => {
  let own: GuardFixture;
  beforeEach(async () => {
    own = await GuardFixture.start();
  });
  afterEach(() => own.close());

  const codeOf = async (token: string, by: Guard): Promise<unknown> =>
    by.verify(token).then(
      () => 'admitted',
      (error: { readonly code: string }) => error.code,
    );

  it('refuses a token of a removed key after five minutes at most', async () => {
    const by = await own.readyGuard();
    const old = await own.issuer.token({ tokenSeconds: 900 });
    expect(await codeOf(old, by)).toBe('admitted');
    await own.issuer.replaceKey();
    for (let seconds = 0; seconds < 300; seconds += 10) {
      await own.time.advance(10_000);
      await own.isWaiting();
    }
    expect(await codeOf(old, by)).toBe('invalid-token');
    expect(await codeOf(await own.issuer.token(), by)).toBe('admitted');
  });

  it('admits tokens of a new key at once, and reads the keys once for 50 unknown ones', async () => {
    const by = await own.readyGuard();
    expect(await codeOf(await own.issuer.token(), by)).toBe('admitted');
    await own.issuer.replaceKey();
    const token = await own.issuer.token();
    const foreign = await signWith(await makeKey('ES256'), 'at+jwt', own.issuer.claims());
    const before = own.issuer.requestsTo('/v1/oauth/jwks');
    const codes: unknown[] = [];
    for (const one of [...Array<string>(50).fill(token), ...Array<string>(50).fill(foreign)]) {
      void codeOf(one, by).then((code) => codes.push(code));
    }
    await own.until('they are judged', () => codes.length === 100);
    expect(codes.filter((code) => code === 'admitted')).toHaveLength(50);
    expect(new Set(codes)).toEqual(new Set(['admitted', 'invalid-token']));
    expect(own.issuer.requestsTo('/v1/oauth/jwks') - before).toBe(1);
  });

  it('answers 503 while the keys cannot be read', async () => {
    const by = await own.readyGuard();
    const token = await own.issuer.token();
    own.issuer.isAvailable = false;
    const asked = (): number => own.issuer.requestsTo('/v1/oauth/jwks');
    const before = asked();
    for (let count = 0; count < 20; count += 1) {
      expect(await codeOf(token, by)).toBe('unavailable');
    }
    expect(asked() - before).toBe(1);
    own.issuer.isAvailable = true;
    await own.time.advance(1000);
    expect(await codeOf(token, by)).toBe('admitted');
  });

  it('accepts RS256 only where the options say so', async () => {
    const other = await GuardFixture.start({ tokenAlg: 'RS256' });
    try {
      const token = await other.issuer.token();
      expect(await codeOf(token, await other.readyGuard())).toBe('admitted');
      const strict = other.guard({ tokenAlg: 'ES256' });
      await strict.ready();
      expect(await codeOf(token, strict)).toBe('invalid-token');
    } finally {
      await other.close();
    }
  });
});

describe('introspection', () => {
  let own: GuardFixture;
  beforeEach(async () => {
    own = await GuardFixture.start();
  });
  afterEach(() => own.close());

  const introspecting = (cacheSeconds: number): Guard =>
    own.guard({ introspection: { cacheSeconds } });
  const questions = (): number => own.issuer.requestsTo('/v1/oauth/introspect');

  it('asks once for 50 simultaneous requests, and makes no stream', async () => {
    const by = introspecting(10);
    await by.ready();
    const token = await own.issuer.token();
    await Promise.all(Array.from({ length: 50 }, () => by.verify(token)));
    expect(questions()).toBe(1);
    expect(own.issuer.streamCount).toBe(0);
  });

  it('uses an answer for the seconds of the cache', async () => {
    const by = introspecting(10);
    const token = await own.issuer.token({ sid: 'ended' });
    await by.verify(token);
    await own.issuer.endSession('ended');
    await own.time.advance(9999);
    await by.verify(token);
    await own.time.advance(1);
    await expect(by.verify(token)).rejects.toMatchObject({ code: 'invalid-token' });
    expect(questions()).toBe(2);
  });

  it('asks each time without a cache', async () => {
    const by = introspecting(0);
    const token = await own.issuer.token();
    await by.verify(token);
    await by.verify(token);
    expect(questions()).toBe(2);
  });

  it('holds a connection until the token expires', async () => {
    const by = introspecting(10);
    const ends: string[] = [];
    by.hold(await by.verify(await own.issuer.token({ tokenSeconds: 60 })), (end) => ends.push(end));
    await own.time.advance(60_000);
    expect(ends).toEqual(['token-expired']);
  });

  it.each([-62_000, 62_000])('answers 503 with a clock that is %i ms wrong', async (offset) => {
    own.clock.wallOffsetMs = offset;
    const token = await own.issuer.token();
    const verified = introspecting(10).verify(token);
    await expect(verified).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  });

  it('asks about 50 tokens at once without a warning of Node', async () => {
    const by = introspecting(10);
    const warnings: Error[] = [];
    const note = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', note);
    try {
      const tokens = await Promise.all(Array.from({ length: 50 }, () => own.issuer.token()));
      await Promise.all(tokens.map((token) => by.verify(token)));
      await setImmediate();
    } finally {
      process.off('warning', note);
    }
    expect(warnings).toEqual([]);
  });

  it('answers 503 while Gatehouse is away, and keeps no failure', async () => {
    const by = introspecting(10);
    const token = await own.issuer.token();
    own.issuer.isAvailable = false;
    await expect(by.verify(token)).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    own.issuer.isAvailable = true;
    await own.time.advance(1000);
    await by.verify(token);
  });
});

describe(EndedSessions.name, () => {
  it('forgets a session once every token of it has expired', () => {
    const clock = new ManualClock();
    const ended = new EndedSessions(clock);
    ended.add('one');
    clock.nowMs += 1_019_999;
    ended.add('two');
    ended.removeExpired();
    expect([ended.has('one'), ended.size]).toEqual([true, 2]);
    clock.nowMs += 1;
    ended.removeExpired();
    expect([ended.has('one'), ended.has('two'), ended.size]).toEqual([false, true, 1]);
  });
});

describe(readOptions.name, () => {
  const options = {
    issuer: 'https://gate.example.com',
    resource: 'https://relay.example.com/path',
    client: { id: 'relay', secretFile: '/secret' },
  };

  it('has defaults', () => {
    expect(readOptions(options)).toMatchObject({
      ...{ leaseMs: 30_000, tokenAlg: 'ES256', closeOnTokenExpiry: false, cacheMs: null },
    });
  });

  it.each([
    [{ issuer: 'http://gate.example.com' }, 'issuer'],
    [{ issuer: 'https://gate.example.com/' }, 'issuer'],
    [{ resource: 'relay' }, 'resource'],
    [{ resource: 'https://user@relay.example.com' }, 'resource'],
    [{ leaseSeconds: 24 }, 'leaseSeconds'],
    [{ leaseSeconds: 301 }, 'leaseSeconds'],
    [{ leaseSeconds: Number.NaN }, 'leaseSeconds'],
    [{ tokenAlg: 'HS256' }, 'tokenAlg'],
    [{ introspection: { cacheSeconds: 61 } }, 'cacheSeconds'],
    [{ client: { id: 'relay' } }, 'client'],
    [{ client: { id: '', secret: 'x' } }, 'client'],
    [{ client: { id: 'relay', secret: 'x', secretFile: 'y' } }, 'client'],
  ])('refuses %j', (changed, name) => {
    expect(() => readOptions({ ...options, ...changed } as GuardOptions)).toThrow(name);
  });
});
