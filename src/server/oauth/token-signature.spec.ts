import { generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import { signToken } from './token-signature.js';

const PAIRS = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

describe.each(Object.entries(PAIRS))('signToken with %s', (alg, { privateKey, publicKey }) => {
  it('returns a token that jose verifies', async () => {
    const claims = { iss: 'https://gate.example', aud: 'https://notes.example', name: 'Zoë 🙂' };
    const token = await signToken({ kid: 'first', alg, privateKey }, 'at+jwt', claims);
    const verified = await jwtVerify(token, publicKey, { algorithms: [alg] });
    expect(verified.protectedHeader).toEqual({ alg, typ: 'at+jwt', kid: 'first' });
    expect(verified.payload).toEqual(claims);
  });

  it('leaves out claims that are undefined', async () => {
    const token = await signToken({ kid: 'first', alg, privateKey }, 'at+jwt', {
      sub: 'a',
      email: undefined,
    });
    expect((await jwtVerify(token, publicKey)).payload).toEqual({ sub: 'a' });
  });
});
