import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { generateKeyPair, SignJWT } from 'jose';
import { input, listen } from './listen.mjs';

/** Serves the token endpoint. @param {(form: object, reply: object) => Promise<object>} answer */
export function serveTokens(answer) {
  const app = Fastify();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body))),
  );
  app.post('/v1/oauth/token', ({ body }, reply) => answer(body, reply));
  return listen(app);
}

const { privateKey } = await generateKeyPair('ES256');

export function sign(claims, { audience, subject, lifetimeSeconds }) {
  const iat = Math.floor(Date.now() / 1000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .setIssuer(input.issuer)
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt(iat)
    .setExpirationTime(iat + lifetimeSeconds)
    .setJti(randomUUID())
    .sign(privateKey);
}
