import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import {
  directory,
  files,
  issuing,
  publish,
  startDirect,
} from '../../../fixtures/tls-listener-fixture.js';
import { TestAuthority } from '../../../fixtures/certificates-fixture.js';
import { createStore, type Store } from '../../../fixtures/programs/store-fixture.js';
import type { Server } from '../../../fixtures/programs/server-fixture.js';

/** Only a signal causes a re-check. */
const env = { AUTH_OFFBOARDING_INTERVAL_SECONDS: '86400' };

describe('certificates of people, and what changed while no server ran', () => {
  let store: Store;
  beforeEach(async () => {
    store = await createStore();
  });
  afterEach(() => store.drop());

  const leave = async (name: string) => {
    const direct = await startDirect({}, { store, env });
    const own = issuing.issue({ names: [`email:${name}@corp.example`] });
    const { status, body } = await direct.logIn(own);
    expect(status).toBe(200);
    return { server: direct.server, token: String(body['token']) };
  };
  const expectEnd = async (server: Server, token: string, reason: string): Promise<void> => {
    await waitFor('the refusal', async () => {
      const answer = await call(server, 'GET', '/v1/push-tokens', { token });
      return answer.status === 403 && answer.body['code'] === 'not-eligible';
    });
    const { body } = await call(server, 'GET', '/v1/account/profile', { token });
    expect(body).toMatchObject({ identities: [{ eligibility: { reason } }] });
    await server.stop();
  };

  it('ends access by rules in variables', async () => {
    const { server, token } = await leave('ruled');
    await server.stop();
    const next = await startDirect({ ALLOWED_ISSUERS: 'Another CA' }, { store, env });
    await expectEnd(next.server, token, 'issuer_not_allowed');
  });

  it('ends access of an authority that is no longer trusted', async () => {
    const { server, token } = await leave('untrusted');
    await server.kill('SIGKILL');
    const other = TestAuthority.root(directory, 'Other Root');
    publish({ ...files, 'ca.crt': other.cert, 'crl.pem': other.revocationList() }, 'stopped');
    await expectEnd(await server.restart(), token, 'not_trusted');
  });
});
