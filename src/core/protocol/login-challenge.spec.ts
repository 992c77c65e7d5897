import {
  fitsLoginChallenge,
  LOGIN_CHALLENGE_VERSION,
  MAX_LOGIN_CHALLENGE_BYTES,
  readLoginChallenge,
  writeLoginChallenge,
} from './login-challenge.js';

const NONCE = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE';
const EXPIRES_AT = 1_790_000_000_000;
const ORIGINS = ['https://gate.example', 'http://127.0.0.1:3000'];
const text = writeLoginChallenge({ origins: ORIGINS, nonce: NONCE, expiresAt: EXPIRES_AT });

describe(writeLoginChallenge.name, () => {
  it('joins version, origins, nonce and expiry by line feeds', () => {
    expect(text).toBe(
      `gatehouse-login-v1\nhttps://gate.example http://127.0.0.1:3000\n${NONCE}\n1790000000000`,
    );
  });
});

describe(readLoginChallenge.name, () => {
  it.each([[ORIGINS], [[]]])('reads a written challenge, with the origins %j', (origins) => {
    const challenge = { origins, nonce: NONCE, expiresAt: EXPIRES_AT };
    expect(readLoginChallenge(writeLoginChallenge(challenge))).toEqual({
      kind: 'challenge',
      challenge,
    });
  });

  it('reports another version', () => {
    const next = text.replace(LOGIN_CHALLENGE_VERSION, 'gatehouse-login-v2');
    expect(readLoginChallenge(next)).toEqual({ kind: 'other-version' });
  });

  it.each([
    ['nothing', ''],
    ['another text', 'gatehouse-challenge-v1:abc'],
    ['the version alone', LOGIN_CHALLENGE_VERSION],
    ['a line more', `${text}\nmore`],
    ['a line feed at the end', `${text}\n`],
    ['a carriage return', text.replaceAll('\n', '\r\n')],
    ['a tab between origins', text.replace(' http', '\thttp')],
    ['two spaces between origins', text.replace(' http', '  http')],
    ['a space before the origins', text.replace('https', ' https')],
    ['a zero byte', text.replace('gate', 'gate\0')],
    ['a letter beyond ASCII', text.replace('gate.example', 'gäte.example')],
    ['a direction override', text.replace('gate.example', 'gate\u202e.example')],
    ['an origin with a path', text.replace('gate.example', 'gate.example/x')],
    ['an origin with a user', text.replace('gate.example', 'gate.example@evil.example')],
    ['an origin without a scheme', text.replace('https://gate', 'gate')],
    ['an origin of another scheme', text.replace('https://gate', 'file://gate')],
    ['a short nonce', text.replace(NONCE, NONCE.slice(1))],
    ['a nonce of another alphabet', text.replace('-_', '+/')],
    ['an expiry that is no number', text.replace(String(EXPIRES_AT), 'never')],
    ['an expiry in seconds', text.replace(String(EXPIRES_AT), '1790000000')],
    ['an expiry with a sign', text.replace(String(EXPIRES_AT), `+${EXPIRES_AT}`)],
    ['upper case', text.toUpperCase()],
  ])('refuses %s', (_name, changed) => {
    expect(changed).not.toBe(text);
    expect(readLoginChallenge(changed)).toEqual({ kind: 'other-form' });
  });

  it('refuses a text of more bytes than the server accepts', () => {
    const long = text.replace('gate', 'g'.repeat(MAX_LOGIN_CHALLENGE_BYTES));
    expect(readLoginChallenge(long)).toEqual({ kind: 'other-form' });
  });
});

describe(fitsLoginChallenge.name, () => {
  it('accepts exactly up to the limit', () => {
    const empty = writeLoginChallenge({
      origins: [''],
      nonce: NONCE,
      expiresAt: 999_999_999_999_999,
    });
    const rest = MAX_LOGIN_CHALLENGE_BYTES - empty.length;
    const origin = (length: number) => 'https://'.padEnd(length, 'a');
    expect(fitsLoginChallenge([origin(rest)])).toBe(true);
    expect(fitsLoginChallenge([origin(rest + 1)])).toBe(false);
  });
});
