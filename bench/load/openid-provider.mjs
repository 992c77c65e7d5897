import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/**
 * As much of an OpenID provider as a re-check asks: the refresh token of a person is their subject, it stays
 * valid, and each answer has an ID token by RS256.
 */
const { delayMs, clientId } = JSON.parse(process.argv[2]);
const { publicKey, privateKey } = await generateKeyPair('RS256');
const key = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' };

const server = createServer(async (request, response) => {
  const issuer = `http://${request.headers.host}`;
  const json = await answer(request.url, await text(request), issuer);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

async function answer(path, body, issuer) {
  switch (path) {
    case '/.well-known/openid-configuration':
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      };
    case '/jwks':
      return { keys: [key] };
    default:
      await sleep(delayMs);
      return tokensFor(new URLSearchParams(body).get('refresh_token'), issuer);
  }
}

async function tokensFor(subject, issuer) {
  const idToken = await new SignJWT({ preferred_username: subject })
    .setProtectedHeader({ alg: 'RS256', kid: key.kid })
    .setIssuer(issuer)
    .setAudience(clientId)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey);
  return { access_token: 'bench', token_type: 'Bearer', expires_in: 300, id_token: idToken };
}
