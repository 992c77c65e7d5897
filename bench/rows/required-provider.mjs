import { bearer, signUp } from '../client.mjs';
import { compareHttp } from '../compare-http.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { query } from '../postgres.mjs';

const name = 'required-provider';
const ACCOUNTS = 20;
const PATH = '/v1/push-tokens';

/** Strict, so that the age of the last good answer counts. No identity is due, so none is re-checked. */
const ENFORCED = {
  SERVICE_PUBLIC_URL: 'https://gate.example',
  AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta',
  AUTH_OFFBOARDING_STRICT: 'true',
  AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
    {
      id: 'okta',
      type: 'oidc',
      issuer: 'https://okta.example',
      clientId: 'bench',
      clientSecret: 'a-client-secret-of-the-bench',
      allow: { groupsAny: ['staff'] },
    },
  ]),
};

export const group = {
  name,
  run: async (context) => [
    await compareHttp(context, {
      name,
      work: `\`GET ${PATH}\` with a required provider linked; the limit is Gatehouse without`,
      env: ENFORCED,
      startReference: () => startUsed(context),
      least: 0.95,
      goal: 0.99,
      prepare: async ({ url }) => {
        const accounts = [];
        for (let index = 0; index < ACCOUNTS; index += 1) {
          accounts.push(await signUp(url));
        }
        await link(context, accounts);
        const requests = accounts.map(({ token }) => ({ path: PATH, headers: bearer(token) }));
        return { limitInput: {}, requests };
      },
    }),
  ],
};

/** A reference that signed up as many before it is measured: what a process did decides how its code is compiled. */
async function startUsed(context) {
  const reference = await startGatehouse(context);
  for (let index = 0; index < ACCOUNTS; index += 1) {
    await signUp(reference.url);
  }
  return reference;
}

function link(context, accounts) {
  return query(
    context.databaseUrl,
    `INSERT INTO identity (id, account_id, provider, subject, connected_at, eligibility_status,
       eligibility_checked_at, eligibility_next_check_at)
     SELECT gen_random_uuid(), id, 'okta', id::text, now(), 'eligible', now(), now() + interval '1 day'
     FROM unnest($1::uuid[]) AS id`,
    [accounts.map(({ accountId }) => accountId)],
  );
}
