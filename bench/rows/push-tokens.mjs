import { bearer, postJson, signUp } from '../client.mjs';
import { compareHttp } from '../compare-http.mjs';
import { POOL_SIZE } from '../gatehouse.mjs';

const name = 'push-tokens';
const ACCOUNTS = 20;
const TOKENS_PER_ACCOUNT = 3;

export const group = {
  name,
  run: async (context) => [
    await compareHttp(context, {
      name,
      work: '`GET /v1/push-tokens`, 3 tokens',
      limitFile: 'push-tokens.mjs',
      least: 0.6,
      goal: 0.9,
      prepare: async ({ url }) => {
        const accounts = [];
        for (let index = 0; index < ACCOUNTS; index += 1) {
          accounts.push(await accountWithTokens(url));
        }
        return {
          limitInput: { databaseUrl: context.databaseUrl, poolSize: POOL_SIZE, accounts },
          requests: accounts.map(({ token }) => ({
            path: '/v1/push-tokens',
            headers: bearer(token),
          })),
        };
      },
    }),
  ],
};

async function accountWithTokens(url) {
  const { token, accountId } = await signUp(url);
  for (let index = 0; index < TOKENS_PER_ACCOUNT; index += 1) {
    const body = { token: `ExponentPushToken[${accountId}-${index}]`, clientServerUrl: url };
    await postJson(`${url}/v1/push-tokens`, body, token);
  }
  return { token, accountId };
}
