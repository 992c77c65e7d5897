// A certified OpenID provider (npm: oidc-provider) in a process of its own. Writes its address as the
// first line; reads JSON lines from standard input: {"account": {...claims}} or {"revoke": "<sub>"}.
import { createInterface } from 'node:readline';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const [clientId, clientSecret, redirectUri] = process.argv.slice(2);
const accounts = new Map();
// As KEPT_OPEN of local-server.ts.
const server = createServer({ keepAliveTimeout: 0 });
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
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
  const { account, revoke } = JSON.parse(line);
  if (account !== undefined) {
    const { sub, ...claims } = account;
    accounts.set(sub, claims);
  }
  if (revoke !== undefined) {
    accounts.delete(revoke);
  }
  process.stdout.write('ok\n');
}
