import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bearer, signUp } from '../client.mjs';
import { compareHttp, load, noteOn, of } from '../compare-http.mjs';
import { POOL_SIZE, startGatehouse } from '../gatehouse.mjs';
import { row } from '../report.mjs';
import { loginsAt, REPEATABLE } from './login.mjs';

const ACCOUNTS = 20;
const ISSUER = 'https://gate.example';
const RESOURCE = 'https://relay.example';
const SECRET = 'a-client-secret-of-the-bench';
const BASIC = `Basic ${Buffer.from(`relay:${SECRET}`).toString('base64')}`;
const FORM = 'application/x-www-form-urlencoded';
const TOKEN_LIST = '/v1/push-tokens';

/** Tokens for a backend, and its questions about them when everything is cached. */
export const group = {
  name: 'resource-servers',
  run: async (context) => {
    const env = configure(context);
    return [
      await exchange(context, env),
      await login(context, env),
      ...(await compareWithTokenList(context, env, [
        {
          name: 'forward-auth',
          work: '`GET /v1/oauth/forward-auth/relay`, warm; the limit is the token list',
          least: 0.85,
          requestOf: (token) => ({
            path: '/v1/oauth/forward-auth/relay/channel',
            headers: bearer(token),
          }),
        },
        {
          name: 'introspection',
          work: '`POST /v1/oauth/introspect`, warm; the limit is the token list',
          least: 0.6,
          requestOf: (token) => ({
            path: '/v1/oauth/introspect',
            method: 'POST',
            headers: { 'content-type': FORM, authorization: BASIC },
            body: new URLSearchParams({ token }).toString(),
          }),
        },
      ])),
    ];
  },
};

function configure({ directory }) {
  const secretFile = join(directory, 'relay-secret');
  writeFileSync(secretFile, `${SECRET}\n`);
  return {
    SERVICE_PUBLIC_URL: ISSUER,
    SERVICE_RATE_LIMIT_PER_RESOURCE_SERVER_PER_MINUTE: '0',
    AUTH_RESOURCE_SERVERS_CONFIG_JSON: JSON.stringify([
      { id: 'relay', resource: RESOURCE, client: { secretFile } },
    ]),
  };
}

function exchange(context, env) {
  return compareHttp(context, {
    name: 'exchange',
    work: '`POST /v1/oauth/token`, a token for a backend',
    limitFile: 'exchange.mjs',
    env,
    least: 0.4,
    goal: 0.6,
    prepare: async ({ url }) => {
      const accounts = await signUpAll(url);
      const { databaseUrl } = context;
      return {
        limitInput: { databaseUrl, poolSize: POOL_SIZE, issuer: ISSUER, accounts },
        requests: accounts.map(({ token }) => exchangeOf(token)),
      };
    },
  });
}

/** Both servers have the same database, so that their tables are equally large. */
function login(context, env) {
  return compareHttp(context, {
    name: 'login with a backend',
    work: '`POST /v1/auth`, known key, with a backend; the limit is Gatehouse without',
    env: { ...REPEATABLE, ...env },
    startReference: async () => {
      const reference = await startGatehouse(context, { env: REPEATABLE });
      await loginsAt(reference.url);
      return reference;
    },
    least: 0.95,
    goal: 0.99,
    prepare: async ({ url }) => ({ limitInput: {}, requests: (await loginsAt(url)).requests }),
  });
}

/** Rounds of the token list and of another request, in turn, on one server. */
async function compareWithTokenList(context, env, works) {
  const gatehouse = await startGatehouse(context, { env });
  const accounts = await signUpAll(gatehouse.url);
  const tokens = await Promise.all(accounts.map(({ token }) => tokenFor(gatehouse.url, token)));
  const lists = accounts.map(({ token }) => ({ path: TOKEN_LIST, headers: bearer(token) }));
  const rows = [];
  for (const { requestOf, ...work } of works) {
    const requests = tokens.map(requestOf);
    const rounds = { limit: [], gatehouse: [] };
    await load(context, gatehouse, lists, context.seconds);
    await load(context, gatehouse, requests, context.seconds);
    for (let round = 0; round < context.rounds; round += 1) {
      rounds.limit.push(await load(context, gatehouse, lists, context.seconds));
      rounds.gatehouse.push(await load(context, gatehouse, requests, context.seconds));
    }
    rows.push(
      row({
        ...work,
        unit: '/s',
        limit: of(rounds.limit, 'perSecond'),
        gatehouse: of(rounds.gatehouse, 'perSecond'),
        bar: 'at least',
        goal: 1,
        note: noteOn(rounds),
        rounds,
      }),
    );
  }
  await gatehouse.stop();
  return rows;
}

async function signUpAll(url) {
  const accounts = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    accounts.push(await signUp(url));
  }
  return accounts;
}

function exchangeOf(token) {
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    resource: RESOURCE,
  };
  return {
    path: '/v1/oauth/token',
    method: 'POST',
    headers: { 'content-type': FORM },
    body: new URLSearchParams(form).toString(),
  };
}

async function tokenFor(url, session) {
  const { path, ...request } = exchangeOf(session);
  const answer = await fetch(`${url}${path}`, request);
  if (!answer.ok) {
    throw new Error(`The exchange was answered ${answer.status}: ${await answer.text()}`);
  }
  return (await answer.json()).access_token;
}
