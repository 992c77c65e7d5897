import { call, type Answer, type Json } from './client.js';
import type { Server } from '../fixtures/programs/server-fixture.js';
import { begin, logInAtProvider } from '../fixtures/provider-login-fixture.js';

/** The specification's "Enterprise optional encryption". */
export const OPTIONAL = {
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false',
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT: '1',
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: '1',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'okta',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION: '1',
};

export async function pendingOf(server: Server, user: string, provider = 'okta', mode = 'keyless') {
  const { url, proof } = await begin(server, provider, { mode });
  return { proof, back: await logInAtProvider(url, user) };
}

export const finish = (server: Server, body: Json, provider = 'okta'): Promise<Answer> =>
  call(server, 'POST', `/v1/auth/external/${provider}/finalize-keyless`, { body });

export async function keylessLogin(server: Server, user: string): Promise<Answer> {
  const { proof, back } = await pendingOf(server, user);
  return finish(server, { pending: back['pending'], proof });
}
