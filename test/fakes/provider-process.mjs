/**
 * A certified OpenID Provider (`oidc-provider`) in a process of its own.
 * Arguments: port, client id, client secret, redirect addresses. With `--jwks-uri` the client has keys there in place of
 * the secret. With `--ask` people are asked for consent, without which it issues no refresh token, and ID tokens have
 * all claims.
 * Every person is in engineering, except those whose login begins with `out-`. A line of JSON on standard input changes
 * claims of a person: {"login": "anna", "groups": []}; {"login": "anna", "isGone": true} removes them, and
 * {"forgetKeys": true} clears the cached keys of the client. The process ends with its standard input, which also ends
 * if the process that started it is killed.
 */
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Provider } from 'oidc-provider';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'jwks-uri': { type: 'string' }, ask: { type: 'boolean', default: false } },
});
const [port, clientId, clientSecret, ...redirectUris] = positionals;
const { 'jwks-uri': jwksUri, ask } = values;

const people = new Map();
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const { login, forgetKeys, ...claims } = readLine(line);
    if (login === undefined && !forgetKeys) {
      process.stdout.write('unknown: write JSON with a login\n');
      return;
    }
    if (forgetKeys) {
      (await provider.Client.find(clientId)).asymmetricKeyStore.freshUntil = 0;
    } else {
      people.set(login, claims);
    }
    process.stdout.write('known\n');
  })
  .on('close', () => process.exit());

/** A person types these lines (docs/try-a-provider.md): a mistake must not end the provider. */
function readLine(line) {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}

/** The administrator of a company has consented for all of its people. */
async function consentOf({ oidc }) {
  const grant = new oidc.provider.Grant({
    clientId: oidc.client.clientId,
    accountId: oidc.session.accountId,
  });
  grant.addOIDCScope('openid offline_access profile email groups');
  await grant.save();
  return grant;
}

function findAccount(_context, sub) {
  const { isGone, ...changed } = people.get(sub) ?? {};
  const claims = {
    sub,
    preferred_username: sub,
    email: `${sub}@acme.example`,
    email_verified: true,
    groups: sub.startsWith('out-') ? ['sales'] : ['engineering'],
    ...changed,
  };
  return isGone ? undefined : { accountId: sub, claims: () => claims };
}

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: clientId,
      ...(jwksUri === undefined
        ? { client_secret: clientSecret }
        : { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: jwksUri }),
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
  // Its own refuses loopback addresses, where the keys of tests are.
  fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  scopes: ['openid', 'offline_access', 'groups'],
  claims: {
    openid: ['sub'],
    profile: ['preferred_username'],
    email: ['email', 'email_verified'],
    groups: ['groups'],
  },
  conformIdTokenClaims: !ask,
  pkce: { required: () => true },
  rotateRefreshToken: true,
  features: { devInteractions: { enabled: true } },
  ...(!ask && { issueRefreshToken: () => true, loadExistingGrant: consentOf }),
  findAccount,
});

const server = provider.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
// As KEPT_OPEN of local-server.ts.
server.keepAliveTimeout = 0;
