import { once } from 'node:events';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const CLIENT_ID = 'bench';
const ACCOUNT = 'person-1';
const SCOPE = 'openid profile email';

/** The server, as its documentation makes one: its in-memory adapter, one client, one account. */
const server = createServer();
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address();
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
server.on('request', provider.callback());

/** As the token endpoint issues one after a login with consent. */
const client = await provider.Client.find(CLIENT_ID);
const grant = new provider.Grant({ accountId: ACCOUNT, clientId: CLIENT_ID });
grant.addOIDCScope(SCOPE);
const grantId = await grant.save();
const token = new provider.AccessToken({ accountId: ACCOUNT, client, grantId, scope: SCOPE });
process.send({ port, token: await token.save() });
