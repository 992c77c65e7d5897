import { createHmac } from 'node:crypto';
import {
  CompactEncrypt,
  CompactSign,
  exportSPKI,
  importJWK,
  UnsecuredJWT,
  type CryptoKey,
  type JWTPayload,
} from 'jose';
import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../../test/fixtures/manual-timers.js';
import { Random } from '../../../common/runtime/random.js';
import { IssuerFault } from '../issuer/issuer-http.js';
import { makeKey, type TestKey } from '../testing/test-keys.js';
import { KeySet } from './key-set.js';
import { TokenVerifier } from './token-verifier.js';

const START = Date.UTC(2026, 9, 1);
const SECONDS = START / 1000;
const CLAIMS = {
  iss: 'https://gate.example.com',
  aud: 'https://backend.test',
  sub: 'ada',
  sid: 's',
  client_id: 'gatehouse',
  iat: SECONDS,
  exp: SECONDS + 300,
  session_exp: SECONDS + 86_400,
  login_method: 'device-key',
};

let key: TestKey;
let rsa: TestKey;
beforeAll(async () => {
  [key, rsa] = await Promise.all([makeKey('ES256'), makeKey('RS256')]);
});

let clock: ManualClock;
let isAvailable: boolean;
beforeEach(() => {
  clock = new ManualClock(START);
  isAvailable = true;
});

function verifierOf(tokenAlg: 'ES256' | 'RS256' = 'ES256'): TokenVerifier {
  const runtime = { clock, timers: new ManualTimers(clock), random: new Random() };
  const keys = new KeySet(async () => {
    if (!isAvailable) {
      throw new IssuerFault('no answer in time');
    }
    return { keys: [key.publicJwk, rsa.publicJwk] };
  }, runtime);
  const settings = { issuer: CLAIMS.iss, resource: CLAIMS.aud, tokenAlg };
  return new TokenVerifier(settings, runtime, keys);
}

/** Signs with a header that may have any field. */
function sign(
  header: Readonly<Record<string, unknown>> = {},
  claims: JWTPayload | string = CLAIMS,
  { alg, kid, privateKey } = key,
): Promise<string> {
  const text = typeof claims === 'string' ? claims : JSON.stringify(claims);
  return new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
    .sign(privateKey, { crit: { 'https://attacker.example/ok': true } });
}

/** A token with these claims in place of the genuine ones. */
const claiming = (changed: object) => (): Promise<string> => sign({}, { ...CLAIMS, ...changed });

/** A token whose claims begin with another one. */
const beginning = (name: string, value: unknown, claims: object) => (): Promise<string> =>
  sign({}, JSON.stringify(claims).replace('{', `{"${name}":${JSON.stringify(value)},`));

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function hmacWithPublicKey(): Promise<string> {
  const { publicJwk, kid } = key;
  const secret = await exportSPKI((await importJWK(publicJwk, 'ES256')) as CryptoKey);
  const content = `${encode({ alg: 'HS256', typ: 'at+jwt', kid })}.${encode(CLAIMS)}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

const encrypted = async (): Promise<string> =>
  new CompactEncrypt(new TextEncoder().encode(await sign()))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: 'at+jwt' })
    .encrypt(new Uint8Array(32));

async function inJson(): Promise<string> {
  const [head, payload, signature] = (await sign()).split('.');
  return JSON.stringify({ protected: head, payload, signature });
}

const NO_JWT = 'it is not a signed JWT';
const ALG = 'its algorithm is not ES256';
const TYPE = 'its type is not at+jwt';
const AUDIENCE = 'its audience is not https://backend.test';
const TIMES = 'its times are not numbers of seconds';
const REPEATED = 'it repeats a claim';

const claim = (name: string): string => `its "${name}" is missing or not accepted`;

const FORGED: readonly (readonly [string, string, () => Promise<string> | string])[] = [
  ['no JWT', NO_JWT, () => 'x'],
  ['a text of two parts', NO_JWT, () => 'a.b'],
  ['a text of two tokens', NO_JWT, async () => `${await sign()}.${await sign()}`],
  ['JSON', NO_JWT, inJson],
  ['encryption', NO_JWT, encrypted],
  ['alg none', ALG, () => new UnsecuredJWT(CLAIMS).encode()],
  ['HS256 with the public key', ALG, hmacWithPublicKey],
  ['the key of signals', ALG, () => sign({}, CLAIMS, rsa)],
  [
    'another key of the same id',
    'its signature is wrong',
    async () => sign({ kid: key.kid }, CLAIMS, await makeKey('ES256')),
  ],
  ['no type', TYPE, () => sign({ typ: undefined })],
  ['another type', TYPE, () => sign({ typ: 'JWT' })],
  ['the type of signals', TYPE, () => sign({ typ: 'secevent+jwt' })],
  ['a type that is no text', TYPE, () => sign({ typ: ['at+jwt'] })],
  [
    'an unknown critical field',
    NO_JWT,
    () => sign({ crit: ['https://attacker.example/ok'], 'https://attacker.example/ok': 1 }),
  ],
  ['another audience', AUDIENCE, claiming({ aud: 'https://files.test' })],
  ['a list of one audience', `${AUDIENCE} alone`, claiming({ aud: [CLAIMS.aud] })],
  ['two audiences', `${AUDIENCE} alone`, claiming({ aud: [CLAIMS.aud, 'https://files.test'] })],
  ['another issuer', `its issuer is not ${CLAIMS.iss}`, claiming({ iss: `${CLAIMS.iss}/` })],
  ['a later beginning', claim('nbf'), claiming({ nbf: SECONDS + 1 })],
  [
    'a time that is to come',
    'it was issued later than now: the clocks differ',
    claiming({ iat: SECONDS + 61 }),
  ],
  ...['sub', 'sid', 'client_id', 'iat', 'exp', 'session_exp', 'login_method'].map(
    (name) => [`no ${name}`, claim(name), claiming({ [name]: undefined })] as const,
  ),
  [
    'a session in a prototype',
    claim('sid'),
    beginning('__proto__', { sid: 's' }, { ...CLAIMS, sid: undefined }),
  ],
  ['an end that is a text', claim('exp'), claiming({ exp: `${CLAIMS.exp}` })],
  ['an infinite life', TIMES, claiming({ exp: 1e300 })],
  ['a repeated account', REPEATED, beginning('sub', 'another', CLAIMS)],
  ['a repeated account with an escape', REPEATED, beginning('s\\u0075b', 'another', CLAIMS)],
];

describe(TokenVerifier.name, () => {
  it('reads the access in a token', async () => {
    expect(await verifierOf().verify(await sign())).toMatchObject({
      account: 'ada',
      sid: 's',
      loginMethod: 'device-key',
      expiresAt: new Date(START + 300_000),
      sessionExpiresAt: new Date(START + 86_400_000),
    });
  });

  it.each(FORGED)('refuses %s: %s', async (_what, reason, make) => {
    expect(await verifierOf().verify(await make())).toEqual({ code: 'invalid-token', reason });
  });

  it.each(['=', '\u0000'])('refuses a token with %j behind it', async (end) => {
    const refused = await verifierOf().verify(`${await sign()}${end}`);
    expect(refused).toMatchObject({ code: 'invalid-token' });
  });

  it('refuses an expired token', async () => {
    const refused = await verifierOf().verify(await claiming({ exp: SECONDS })());
    expect(refused).toEqual({ code: 'token-expired', reason: 'it has expired' });
  });

  it.each(['jku', 'x5u', 'jwk', 'x5c'])('takes no key from %s', async (field) => {
    const own = await makeKey('ES256');
    const url = 'https://attacker.example';
    const value = { jku: url, x5u: url, jwk: own.publicJwk, x5c: [own.kid] }[field];
    for (const kid of [own.kid, key.kid, undefined]) {
      const token = await sign({ kid, [field]: value }, CLAIMS, own);
      expect(await verifierOf().verify(token)).toMatchObject({ code: 'invalid-token' });
    }
    // A genuine key signs what it likes: such a field has no effect.
    const genuine = await sign({ [field]: value });
    expect(await verifierOf().verify(genuine)).toMatchObject({ account: 'ada' });
  });

  it.each(['', '__proto__', 'constructor', '../../../dev/null', "' OR 1=1", 7, ['a'], {}, null])(
    'selects no key by the key id %j',
    async (kid) => {
      const token = await sign({ kid }, CLAIMS, await makeKey('ES256'));
      expect(await verifierOf().verify(token)).toMatchObject({ code: 'invalid-token' });
    },
  );

  it('is unavailable while the keys cannot be read', async () => {
    const verifier = verifierOf();
    isAvailable = false;
    expect(await verifier.verify(await sign())).toEqual({
      code: 'unavailable',
      reason: 'the keys cannot be read: no answer in time',
    });
    isAvailable = true;
    await clock.advance(1000);
    expect(await verifier.verify(await sign())).toMatchObject({ account: 'ada' });
  });

  it('accepts RS256 only where the options say so', async () => {
    const token = await sign({}, CLAIMS, rsa);
    expect(await verifierOf('RS256').verify(token)).toMatchObject({ account: 'ada' });
    expect(await verifierOf().verify(token)).toMatchObject({ code: 'invalid-token' });
  });
});
