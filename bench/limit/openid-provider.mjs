import { Provider } from 'oidc-provider';
import { freePort } from '../processes.mjs';

const CLIENT_ID = 'bench';
const ACCOUNT = 'person-1';
const SCOPE = 'openid profile email';

/** The server, as its documentation makes one: its in-memory adapter, one client, one account. */
const port = await freePort();
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: 'a-client-secret-of-the-bench',
      redirect_uris: ['https://client.example/callback'],
    },
  ],
  claims: {
    openid: ['sub'],
    profile: ['preferred_username'],
    email: ['email', 'email_verified'],
  },
  features: { devInteractions: { enabled: false } },
  findAccount: (_context, sub) => ({
    accountId: sub,
    claims: () => ({
      sub,
      preferred_username: sub,
      email: `${sub}@acme.example`,
      email_verified: true,
    }),
  }),
});

/** As the token endpoint issues one after a login with consent. */
async function issueToken() {
  const client = await provider.Client.find(CLIENT_ID);
  const grant = new provider.Grant({ accountId: ACCOUNT, clientId: CLIENT_ID });
  grant.addOIDCScope(SCOPE);
  const grantId = await grant.save();
  const token = new provider.AccessToken({ accountId: ACCOUNT, client, grantId, scope: SCOPE });
  return token.save();
}

const token = await issueToken();
provider.listen(port, '127.0.0.1', () => process.send({ port, token }));
