import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bearer, request, signUp, signUpAll } from '../client.mjs';
import { compareHttp, compareRequests } from '../compare-http.mjs';
import { loginBody, runSql } from '../fixtures.mjs';
import { POOL_SIZE, startGatehouse } from '../gatehouse.mjs';

const ACCOUNTS = 20;
const TOKENS = 3;
const KNOWN = 16;
const LOGINS_OF_ACCOUNT = 8;
const TOKEN_LIST = '/v1/push-tokens';
/** The load sends the same bodies again and again, as the limit does. */
export const REPEATABLE = { AUTH_REQUIRE_SERVER_CHALLENGE: 'false' };

/** Requests of which the limit answers the same, or is another Gatehouse. */
export const groups = {
  features: async (context) => [
    await compareHttp(context, {
      work: '`GET /v1/features`',
      limitFile: 'features.mjs',
      least: 0.5,
      goal: 0.6,
      prepare: async (url) => ({
        limitInput: await featuresOf(url),
        requests: [{ path: '/v1/features' }],
      }),
    }),
  ],

  'push-tokens': async (context) => [
    await compareHttp(context, {
      work: '`GET /v1/push-tokens`, 3 tokens',
      limitFile: 'push-tokens.mjs',
      least: 0.6,
      goal: 0.9,
      prepare: async (url) => {
        const accounts = await signUpAll(url, ACCOUNTS, signUpWithTokens);
        return { limitInput: databaseOf(context, { accounts }), requests: listsOf(accounts) };
      },
    }),
  ],

  login: async (context) => [
    await compareHttp(context, {
      work: '`POST /v1/auth`, known key',
      limitFile: 'login.mjs',
      env: REPEATABLE,
      least: 0.7,
      goal: 0.9,
      prepare: async (url) => {
        const { accounts, requests } = await loginsAt(url);
        return { limitInput: databaseOf(context, { token: accounts[0].token }), requests };
      },
    }),
  ],

  mtls: async (context) => [
    await compareHttp(context, {
      work: '`POST /v1/auth/mtls` forwarded, known identity',
      limitFile: 'login.mjs',
      env: MTLS,
      least: 0.6,
      goal: 0.95,
      prepare: async (url) => {
        const people = [];
        while (people.length < KNOWN) {
          people.push(await firstLogin(url, context.directory, people.length));
        }
        const subjects = people.map(({ certificate, subject }) => [certificate, subject]);
        const path = '/v1/auth/mtls';
        return {
          limitInput: databaseOf(context, { token: people[0].token, subjects }),
          requests: people.map(({ headers }) => ({ method: 'POST', path, headers })),
        };
      },
    }),
  ],

  'required-provider': async (context) => [
    await compareHttp(context, {
      work: '`GET /v1/push-tokens` with a required provider linked; the limit is Gatehouse without',
      // Strict, so that the age of the last good answer counts. No identity is due, so none is re-checked.
      env: { ...requireProvider(), AUTH_OFFBOARDING_STRICT: 'true' },
      startReference: () => startUsed(context, {}, (url) => signUpAll(url, ACCOUNTS)),
      least: 0.95,
      goal: 0.99,
      prepare: async (url) => {
        const accounts = await signUpAll(url, ACCOUNTS);
        await link(context, accounts);
        return { requests: listsOf(accounts) };
      },
    }),
  ],

  /** Versions go up with each write of settings, so the repeated write is the one of credentials: it seals the same way. */
  settings: async (context) => {
    const servers = [];
    const tokens = [];
    for (const how of ['none', 'server_sealed']) {
      servers.push(await startGatehouse(context, { env: atRest(how) }));
      tokens.push(await signUpAll(servers.at(-1).url, ACCOUNTS, signUpWithSettings));
    }
    const rows = [];
    for (const [work, requestOf] of Object.entries(SETTINGS)) {
      const sides = servers.map((server, at) => ({ server, requests: tokens[at].map(requestOf) }));
      const note = 'limit: the same, unsealed';
      rows.push(await compareRequests(context, sides, { work, least: 0.8, goal: 0.95, note }));
    }
    await Promise.all(servers.map((server) => server.stop()));
    return rows;
  },
};

const MTLS = {
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1',
  SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION: '1',
  SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS: '1',
  SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES: '127.0.0.1',
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET: 'ingress-nginx',
};

/** Variables of a server that requires a provider, which nothing asks. */
export function requireProvider(more = {}) {
  const entry = {
    id: 'okta',
    type: 'oidc',
    issuer: 'https://okta.example',
    clientId: 'bench',
    clientSecret: 'a-client-secret-of-the-bench',
    allow: { groupsAny: ['staff'] },
    ...more,
  };
  return {
    SERVICE_PUBLIC_URL: 'https://gate.example',
    AUTH_REQUIRED_LOGIN_PROVIDERS: entry.id,
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([entry]),
  };
}

/** About what a person's settings take up. */
const PLAIN = { t: 'plain', v: { note: 'x'.repeat(2000) } };

const SETTINGS = {
  '`GET /v2/account/settings`, 2 KB, sealed': (token) => ({
    path: '/v2/account/settings',
    headers: bearer(token),
  }),
  '`PUT /v1/account/credentials/…`, 2 KB, sealed': (token) => ({
    path: '/v1/account/credentials/service',
    method: 'PUT',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ content: PLAIN }),
  }),
};

function atRest(how) {
  return {
    SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
    SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: 'plain',
    SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST: how,
    SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST: how,
  };
}

/** The input of a limit that has statements of its own. */
export function databaseOf({ databaseUrl }, input) {
  return { databaseUrl, poolSize: POOL_SIZE, ...input };
}

/** The document, as a limit serves it. */
export async function featuresOf(url) {
  const response = await fetch(`${url}/v1/features`);
  return { body: await response.text(), contentType: response.headers.get('content-type') };
}

/** A reference that was used as much before it is measured: what a process did decides how its code is compiled. */
export async function startUsed(context, env, use) {
  const reference = await startGatehouse(context, { env });
  await use(reference.url);
  return reference;
}

/** A new account with push tokens. */
export async function signUpWithTokens(url) {
  const { token, accountId } = await signUp(url);
  for (let index = 0; index < TOKENS; index += 1) {
    const body = { token: `ExponentPushToken[${accountId}-${index}]`, clientServerUrl: url };
    await request(url, 'POST', TOKEN_LIST, { token, body });
  }
  return { token, accountId };
}

/** The token of a new account with settings. */
async function signUpWithSettings(url) {
  const { token } = await signUp(url);
  const body = { content: PLAIN, expectedVersion: 0 };
  await request(url, 'POST', '/v2/account/settings', { token, body });
  return token;
}

export function listsOf(accounts) {
  return accounts.map(({ token }) => ({ path: TOKEN_LIST, headers: bearer(token) }));
}

/** New accounts, and logins of them that are signed beforehand. */
export async function loginsAt(url) {
  const accounts = await signUpAll(url, KNOWN);
  const requests = Array.from({ length: LOGINS_OF_ACCOUNT }, () =>
    accounts.map(({ key }) => ({
      method: 'POST',
      path: '/v1/auth',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(loginBody(key)),
    })),
  );
  return { accounts, requests: requests.flat() };
}

/** Links the accounts to the provider, by the id of each. */
export function link({ databaseUrl }, accounts) {
  return runSql(
    databaseUrl,
    `INSERT INTO identity (id, account_id, provider, subject, connected_at, eligibility_status,
       eligibility_checked_at, eligibility_next_check_at)
     SELECT gen_random_uuid(), id, 'okta', id::text, now(), 'eligible', now(), now() + interval '1 day'
     FROM unnest($1::uuid[]) AS id`,
    [accounts.map(({ accountId }) => accountId)],
  );
}

async function firstLogin(url, directory, index) {
  const email = `person-${index}@bench.example`;
  const certificate = encodeURIComponent(makeCertificate(directory, email));
  const headers = { 'ssl-client-verify': 'SUCCESS', 'ssl-client-cert': certificate };
  const { token } = await request(url, 'POST', '/v1/auth/mtls', { headers });
  return { certificate, headers, token, subject: `san_email:${email}` };
}

/** RSA with 2048 bits, as most of them are. */
function makeCertificate(directory, email) {
  const path = join(directory, `${email}.pem`);
  const command =
    `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=Person -out ${path} -keyout ${path}.key ` +
    `-addext subjectAltName=email:${email} -addext extendedKeyUsage=clientAuth`;
  const { status, stderr } = spawnSync('openssl', command.split(' '), { encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`openssl failed: ${stderr}`);
  }
  return readFileSync(path, 'utf8');
}
