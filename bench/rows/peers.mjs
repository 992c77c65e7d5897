import { bearer, signUpAll } from '../client.mjs';
import { compareRequests } from '../compare-http.mjs';
import { linkProgram } from '../fixtures.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { startLimit } from '../processes.mjs';
import { databaseOf, listsOf, loginsAt, REPEATABLE, signUpWithTokens } from './http.mjs';

const ACCOUNTS = 20;

/** Programs that do other work than Gatehouse stand in for the limit: they show its order of magnitude. */
export const groups = {
  'nest-server': async (context) => {
    const gatehouse = await startGatehouse(context, { env: REPEATABLE });
    const accounts = await signUpAll(gatehouse.url, ACCOUNTS, signUpWithTokens);
    const { requests: logins } = await loginsAt(gatehouse.url);
    const accountIds = accounts.map(({ accountId }) => accountId);
    const program = await linkProgram('bench/limit/nest-server.ts');
    const peer = await startLimit(context, program, databaseOf(context, { accountIds }));
    const lists = [peer.tokens.map((token) => ({ token })), accounts].map(listsOf);
    return compareAll(context, [peer, gatehouse], {
      '`GET /v1/push-tokens`; the limit is a Nest server as people write it': lists,
      '`POST /v1/auth`, known key; the limit is the same Nest server': [logins, logins],
    });
  },

  'oidc-provider': async (context) => {
    const gatehouse = await startGatehouse(context);
    const accounts = await signUpAll(gatehouse.url, ACCOUNTS, signUpWithTokens);
    const peer = await startLimit(context, 'openid-provider.mjs');
    return compareAll(context, [peer, gatehouse], {
      '`GET /v1/features`; the limit is the discovery of oidc-provider': [
        [{ path: '/.well-known/openid-configuration' }],
        [{ path: '/v1/features' }],
      ],
      '`GET /v1/push-tokens`; the limit is `userinfo` of oidc-provider': [
        [{ path: '/me', headers: bearer(peer.token) }],
        listsOf(accounts),
      ],
    });
  },
};

/** @param {Record<string, [object[], object[]]>} requests those of both servers, by what they do */
async function compareAll(context, [peer, gatehouse], requests) {
  const rows = [];
  for (const [work, [theirs, ours]] of Object.entries(requests)) {
    const sides = [
      { server: peer, requests: theirs },
      { server: gatehouse, requests: ours },
    ];
    rows.push(await compareRequests(context, sides, { work, least: 1 }));
  }
  await Promise.all([peer.stop(), gatehouse.stop()]);
  return rows;
}
