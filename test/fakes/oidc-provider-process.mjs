// A certified OpenID provider (npm: oidc-provider) in a process of its own. Writes its address as the
// first line; reads JSON lines from standard input: {"account": {...claims}} {"revoke": "<sub>"}
// or {"forgetKeys": true}.
// Arguments: client id, client secret, redirect URI and, for private_key_jwt, jwks_uri.
import { createInterface } from 'node:readline';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const [clientId, clientSecret, redirectUri, jwksUri] = process.argv.slice(2);
const accounts = new Map();
// As KEPT_OPEN of local-server.ts.
const server = createServer({ keepAliveTimeout: 0 });
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: clientId,
      ...(jwksUri === undefined
        ? { client_secret: clientSecret }
        : { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: jwksUri }),
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
  // It refuses loopback addresses, where the keys of these tests are.
  fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  cookies: { keys: ['a key for tests only'] },
  claims: {
    openid: ['sub'],
    profile: ['preferred_username', 'groups'],
    email: ['email', 'email_verified'],
  },
  scopes: ['openid', 'offline_access', 'profile', 'email'],
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  rotateRefreshToken: true,
  features: { devInteractions: { enabled: true } },
  findAccount: (_context, sub) => {
    const claims = accounts.get(sub);
    return claims && { accountId: sub, claims: async () => ({ sub, ...claims }) };
  },
});
server.on('request', provider.callback());

process.stdout.write(`${issuer}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { account, revoke, forgetKeys } = JSON.parse(line);
  if (account !== undefined) {
    const { sub, ...claims } = account;
    accounts.set(sub, claims);
  }
  if (revoke !== undefined) {
    accounts.delete(revoke);
  }
  if (forgetKeys) {
    (await provider.Client.find(clientId)).asymmetricKeyStore.freshUntil = 0;
  }
  process.stdout.write('ok\n');
}
