import { call, expectErrorShape, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import {
  connectFinalize,
  profile,
  startLoginFixture,
} from '../../fixtures/provider-login-fixture.js';
import { sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';

const REFUSED = { status: 403, code: 'fresh-login-required' };

/** Routes for which a stolen token must not be sufficient (contract, Sessions). */
const ROUTES = [
  ['DELETE', '/v1/account', undefined],
  ['GET', '/v1/connect/external/okta/params', undefined],
  ['POST', '/v1/connect/external/okta/finalize', { pending: 'x' }],
  ['DELETE', '/v1/connect/external/okta', undefined],
  ['PATCH', '/v1/account/encryption', { mode: 'plain' }],
  [
    'POST',
    '/v1/account/encryption/migrate',
    { toMode: 'plain', expectedSettingsVersion: 0, settings: null, credentials: [] },
  ],
] as const;

const fixture = await startLoginFixture({
  env: {
    AUTH_ACCESS_CACHE_SECONDS: '0',
    SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
    SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT: '1',
  },
});
const server = fixture.server;

afterAll(async () => {
  await fixture.stop();
});

describe('an old session', () => {
  const age = (token: string, seconds: number): Promise<unknown> =>
    runSql(
      server.databaseUrl,
      `UPDATE session SET created_at = created_at - $2 * interval '1 second' WHERE id = $1`,
      [sessionIdOf(token), seconds],
    );

  it.each(ROUTES)(
    'refuses a session without a fresh login at %s %s',
    async (method, path, body) => {
      const key = makeDeviceKey();
      const token = await tokenOf(server, key);
      await age(token, 901);
      const refused = await call(server, method, path, { token, body });
      expect(refusalOf(refused)).toEqual(REFUSED);
      expectErrorShape(refused);
      expect((await profile(server, token)).body).toMatchObject({ encryptionMode: 'e2ee' });
      // The device key begins a fresh session of the same account.
      const fresh = await call(server, method, path, { token: await tokenOf(server, key), body });
      expect(fresh.body?.['code']).not.toBe('fresh-login-required');
    },
  );

  it('permits an old session every other action', async () => {
    const token = await tokenOf(server, makeDeviceKey());
    await age(token, 20 * 86_400);
    for (const path of ['/v1/account/profile', '/v1/account/sessions', '/v1/push-tokens']) {
      expect((await call(server, 'GET', path, { token })).status).toBe(200);
    }
    expect((await call(server, 'POST', '/v1/auth/logout', { token })).status).toBe(200);
  });

  it('refuses an old session before the pending link is consumed', async () => {
    const token = await tokenOf(server, makeDeviceKey());
    await age(token, 901);
    expect(refusalOf(await connectFinalize(server, 'whatever', token))).toEqual(REFUSED);
  });
});
