import {
  startLocalServer,
  type Answer,
  type Fault,
} from '../../../../test/helpers/local-server.js';
import { DIRECT } from '../../../../test/fixtures/provider-settings-fixture.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { UpstreamHttp } from '../http/upstream-http.js';
import { managementTokensOf } from './management-tokens.js';

describe(managementTokensOf.name, () => {
  it.each<[Answer | Fault, string, string | undefined]>([
    [{ status: 401, json: { error: 'invalid_client' } }, 'invalid_client', 'invalid_client'],
    [{ status: 400, json: { error: 'invalid_scope' } }, 'unexpected_answer', 'invalid_scope'],
    [{ status: 200, json: { access_token: null } }, 'unexpected_answer', undefined],
    [{ status: 204 }, 'unexpected_answer', 'OAUTH_RESPONSE_IS_NOT_CONFORM'],
    ['html', 'unexpected_answer', 'OAUTH_RESPONSE_IS_NOT_JSON'],
    ['server-error', 'server_error', undefined],
  ])('reports a token endpoint that answers %j as %s', async (answer, failure, detail) => {
    const endpoint = await startLocalServer(() => answer);
    const runtime = new Runtime();
    const tokens = managementTokensOf(
      {
        kind: 'client',
        tokenUrl: `${endpoint.url}/token`,
        clientId: 'gatehouse',
        clientSecret: 'a-secret-of-thirty-two-characters',
        clientSecretFile: null,
        tokenEndpointAuthMethod: 'client_secret_basic',
        scope: 'ssf.manage',
      },
      new UpstreamHttp(runtime, DIRECT),
      runtime.clock,
    );
    await expect(tokens.current(false)).rejects.toMatchObject({ failure, detail });
    await endpoint.close();
  });
});
