/**
 * A real OpenID Provider (`oidc-provider`) in a process of its own.
 * Arguments: port, client id, client secret, redirect addresses.
 * Every person is in engineering, except those whose login begins with `out-`, and those of which a
 * line of JSON on standard input says otherwise: {"login": "anna", "groups": []}. The process ends with
 * its standard input, which also ends if the process that started it is killed.
 */
import { createInterface } from 'node:readline';
import { Provider } from 'oidc-provider';

const [port, clientId, clientSecret, ...redirectUris] = process.argv.slice(2);

const groupsOf = new Map();
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { login, groups } = JSON.parse(line);
    groupsOf.set(login, groups);
    process.stdout.write('known\n');
  })
  .on('close', () => process.exit());

const SCOPES = ['openid', 'offline_access', 'profile', 'email', 'groups'];

/** The administrator of a company has consented for all of its people. */
async function consentOf({ oidc }) {
  const grant = new oidc.provider.Grant({
    clientId: oidc.client.clientId,
    accountId: oidc.session.accountId,
  });
  grant.addOIDCScope(SCOPES.join(' '));
  await grant.save();
  return grant;
}

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
  scopes: ['openid', 'offline_access', 'groups'],
  claims: {
    openid: ['sub'],
    profile: ['preferred_username'],
    email: ['email', 'email_verified'],
    groups: ['groups'],
  },
  issueRefreshToken: () => true,
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true } },
  loadExistingGrant: consentOf,
  findAccount: (_context, sub) => ({
    accountId: sub,
    claims: () => ({
      sub,
      preferred_username: sub,
      email: `${sub}@acme.example`,
      email_verified: true,
      groups: groupsOf.get(sub) ?? (sub.startsWith('out-') ? ['sales'] : ['engineering']),
    }),
  }),
});

const server = provider.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
// As KEPT_OPEN of local-server.ts.
server.keepAliveTimeout = 0;
