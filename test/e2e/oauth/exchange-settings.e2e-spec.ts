import { decodeJwt } from 'jose';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  backends,
  exchange,
  exchangeForm,
  postForm,
} from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey } from '../../helpers/client.js';

const ORIGIN = 'https://app.example';
const SESSION_SECONDS = 120;

const setup = backends([{ id: 'relay' }, { id: 'files', maxTokenSeconds: 60 }]);
const server = await startServer({
  env: {
    ...setup.env,
    SERVICE_CORS_ORIGINS: ORIGIN,
    AUTH_TOKEN_TTL_SECONDS: String(SESSION_SECONDS),
  },
});
afterAll(() => server.stop());

it('issues no token that outlives its session', async () => {
  const session = await tokenOf(server, makeDeviceKey());
  const { exp: sessionExp = 0 } = decodeJwt(session);
  const { body } = await exchange(server, session, 'relay');
  const { exp, iat = 0, session_exp: ends } = decodeJwt(String(body['access_token']));
  expect([exp, ends]).toEqual([sessionExp, sessionExp]);
  expect(body['expires_in']).toBe(sessionExp - iat);
  const shorter = await exchange(server, session, 'files');
  expect(shorter.body['expires_in']).toBe(60);
});

describe('a script in a browser', () => {
  const allowed = async (method: string, path: string, origin: string) => {
    const { status, headers } = await call(server, method, path, {
      headers: {
        origin,
        ...(method === 'OPTIONS' && {
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type',
        }),
      },
    });
    const names = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
    return { status, ...Object.fromEntries(names.map((name) => [name, headers[name]])) };
  };

  it('may call the token endpoint from the origins that may log in', async () => {
    const answer = await allowed('OPTIONS', '/v1/oauth/token', ORIGIN);
    expect(answer).toMatchObject({ status: 204, 'access-control-allow-origin': ORIGIN });
    expect(answer).toEqual(await allowed('OPTIONS', '/v1/auth', ORIGIN));
    const other = await allowed('OPTIONS', '/v1/oauth/token', 'https://evil.example');
    expect(other).not.toHaveProperty('access-control-allow-origin');
  });

  it('reads the token, the refusal and the keys', async () => {
    const form = exchangeForm(await tokenOf(server, makeDeviceKey()), 'relay');
    const issued = await postForm(server, '/v1/oauth/token', form, { origin: ORIGIN });
    const refused = await postForm(server, '/v1/oauth/token', {}, { origin: ORIGIN });
    const keys = await call(server, 'GET', '/v1/oauth/jwks', { headers: { origin: ORIGIN } });
    expect([issued.status, refused.status, keys.status]).toEqual([200, 400, 200]);
    for (const { headers } of [issued, refused, keys]) {
      expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    }
  });
});
