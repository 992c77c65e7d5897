import { bearer, postJson, signUp } from '../client.mjs';
import { load, noteOn, of } from '../compare-http.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { row } from '../report.mjs';

const name = 'settings';
const ACCOUNTS = 20;
const WARM_UP_SECONDS = 2;
/** About what a person's settings take up. */
const VALUE = { note: 'x'.repeat(2000) };
const PLAIN = { t: 'plain', v: VALUE };

const PLAIN_ACCOUNTS = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: 'plain',
};

const atRest = (how) => ({
  ...PLAIN_ACCOUNTS,
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST: how,
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST: how,
});

/** Gatehouse against itself: what sealing costs. Versions go up with each write of settings, so the
 * write that can be repeated is the one of credentials: it stores and seals the same way. */
export const group = {
  name,
  run: async (context) => {
    const open = await startGatehouse(context, { env: atRest('none') });
    const sealed = await startGatehouse(context, { env: atRest('server_sealed') });
    const [ofOpen, ofSealed] = [await accounts(open.url), await accounts(sealed.url)];
    const rows = [];
    for (const [work, toRequest] of Object.entries(WORKS)) {
      const rounds = { limit: [], gatehouse: [] };
      const sides = [
        [rounds.limit, open, ofOpen.map(toRequest)],
        [rounds.gatehouse, sealed, ofSealed.map(toRequest)],
      ];
      for (const [, server, requests] of sides) {
        await load(context, server, requests, WARM_UP_SECONDS);
      }
      for (let round = 0; round < context.rounds; round += 1) {
        for (const [results, server, requests] of sides) {
          results.push(await load(context, server, requests, context.seconds));
        }
      }
      rows.push(
        row({
          name,
          work,
          unit: '/s',
          limit: of(rounds.limit, 'perSecond'),
          gatehouse: of(rounds.gatehouse, 'perSecond'),
          bar: 'at least',
          least: 0.8,
          goal: 0.95,
          note: `limit: the same, unsealed; ${noteOn(rounds)}`,
          rounds,
        }),
      );
    }
    await Promise.all([open.stop(), sealed.stop()]);
    return rows;
  },
};

const WORKS = {
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

async function accounts(url) {
  const tokens = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const { token } = await signUp(url);
    await postJson(`${url}/v2/account/settings`, { content: PLAIN, expectedVersion: 0 }, token);
    tokens.push(token);
  }
  return tokens;
}
