import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { administration } from '../administration.mjs';
import { getJson, postJson, signUp } from '../client.mjs';
import { startStatementCounter } from '../statement-counter.mjs';
import { startReplicas } from './balanced-replicas.mjs';
import { rowsOf } from './table.mjs';

const SIZES = [1, 2, 4];
const ACTS = 100;
const SETTLE_MS = 1500;
const KINDS = ['log out', 'log out everywhere', 'disable'];
const FIGURES = KINDS.flatMap((kind) => [
  [`${kind}: messages from Redis to the replicas`, 'an act'],
  [`${kind}: statements of all replicas`, 'an act'],
]);

/** The cost of an act that ends access, at one, two and four replicas: messages and statements. */
export const group = {
  name: 'acts',
  run: async (context) => {
    const measured = [];
    for (const count of SIZES) {
      console.error(`  ${count} replicas`);
      measured.push(await measure(context, count));
    }
    const note = `Means of ${ACTS} acts, each of an account whose session every replica knows, one after another.`;
    return [{ name: 'acts', of: 'replicas', sizes: SIZES, rows: rowsOf(FIGURES, measured), note }];
  },
};

async function measure(context, count) {
  const counter = await startStatementCounter(context.databaseUrl);
  const { env: firstEnv, origin, token: operator } = await administration(context, 'operate');
  const env = () => ({ DATABASE_URL: counter.url, AUTH_ACCESS_CACHE_SECONDS: '60' });
  const fixture = await startReplicas(context, { count, firstEnv, env });
  const redis = new Redis(fixture.redis.url);
  const [{ url }] = fixture.replicas;
  const acts = {
    'log out': ({ token }) => postJson(`${url}/v1/auth/logout`, {}, token),
    'log out everywhere': ({ token }) => postJson(`${url}/v1/auth/logout-everywhere`, {}, token),
    disable: ({ accountId }) =>
      postJson(`${origin}/admin/v1/accounts/${accountId}/disable`, { reason: 'bench' }, operator),
  };
  const figures = [];
  for (const kind of KINDS) {
    const accounts = await knownAccounts(url, fixture.replicas);
    // Uses of sessions are stored a moment later.
    await sleep(SETTLE_MS);
    const before = await published(redis);
    counter.take();
    for (const account of accounts) {
      await acts[kind](account);
    }
    await sleep(SETTLE_MS);
    const messages = ((await published(redis)) - before) * (await subscribers(redis));
    figures.push(messages / ACTS, counter.take().length / ACTS);
  }
  redis.disconnect();
  await fixture.stop();
  await counter.close();
  return figures;
}

/** Accounts whose facts every replica has in memory. */
async function knownAccounts(url, replicas) {
  const accounts = [];
  for (let index = 0; index < ACTS; index += 1) {
    const account = await signUp(url);
    await Promise.all(replicas.map((one) => getJson(`${one.url}/v1/push-tokens`, account.token)));
    accounts.push(account);
  }
  return accounts;
}

async function published(redis) {
  const [, calls = '0'] =
    /cmdstat_publish:calls=(\d+)/.exec(await redis.info('commandstats')) ?? [];
  return Number(calls);
}

/** @returns {Promise<number>} the replicas that receive a message about access */
async function subscribers(redis) {
  const channels = await redis.pubsub('CHANNELS', '*');
  const counts = await redis.pubsub('NUMSUB', ...channels);
  return Math.max(...counts.filter((_, index) => index % 2 === 1).map(Number));
}
