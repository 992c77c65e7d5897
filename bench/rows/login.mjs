import { signedLogin, signUp } from '../client.mjs';
import { compareHttp } from '../compare-http.mjs';
import { POOL_SIZE } from '../gatehouse.mjs';

const name = 'login';
const ACCOUNTS = 16;
const CHALLENGES_PER_ACCOUNT = 8;
/** The load sends the same bodies again and again, as the limit does. */
export const REPEATABLE = { AUTH_REQUIRE_SERVER_CHALLENGE: 'false' };

export const group = {
  name,
  run: async (context) => [
    await compareHttp(context, {
      name,
      work: '`POST /v1/auth`, known key',
      limitFile: 'login.mjs',
      env: REPEATABLE,
      least: 0.7,
      goal: 0.9,
      prepare: async ({ url }) => {
        const { accounts, requests } = await loginsAt(url);
        return {
          limitInput: {
            databaseUrl: context.databaseUrl,
            poolSize: POOL_SIZE,
            token: accounts[0].token,
          },
          requests,
        };
      },
    }),
  ],
};

/** New accounts, and logins of them that are signed beforehand. */
export async function loginsAt(url) {
  const accounts = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    accounts.push(await signUp(url));
  }
  const bodies = Array.from({ length: CHALLENGES_PER_ACCOUNT }, () =>
    accounts.map(({ key }) => signedLogin(key)),
  ).flat();
  const requests = bodies.map((body) => ({
    method: 'POST',
    path: '/v1/auth',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }));
  return { accounts, requests };
}
