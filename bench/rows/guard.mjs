import { once } from 'node:events';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { WebSocket } from 'ws';
import { signUp } from '../client.mjs';
import {
  exchange,
  importGuard,
  openRelaySocket,
  quantile,
  startRelay,
  startWithBackend,
} from '../guarded-backend.mjs';
import { median, row } from '../report.mjs';

const name = 'guard';
const TOKENS = 100;
const CONCURRENCY = 20;
const RELAYS = 3;
const PEOPLE = 50;
const SOCKETS = 1000;

/** The library of other backends: its verification, and the sockets of people who leave. */
export const group = {
  name,
  run: async (context) => [await verification(context), await leavers(context)],
};

/** Both verify the same tokens in this process, in turn. */
async function verification(context) {
  const [{ createGuard }, { startTestIssuer }] = await Promise.all([
    importGuard(context, 'index'),
    importGuard(context, 'testing'),
  ]);
  const issuer = await startTestIssuer();
  const guard = createGuard({ ...issuer.guardOptions, log: () => undefined });
  await guard.ready();
  const tokens = await Promise.all(Array.from({ length: TOKENS }, () => issuer.token()));
  const bare = await bareVerification(issuer.guardOptions);
  const rounds = { limit: [], gatehouse: [] };
  await perSecond(bare, tokens, context.seconds);
  await perSecond((token) => guard.verify(token), tokens, context.seconds);
  for (let round = 0; round < context.rounds; round += 1) {
    rounds.limit.push(await perSecond(bare, tokens, context.seconds));
    rounds.gatehouse.push(await perSecond((token) => guard.verify(token), tokens, context.seconds));
  }
  await guard.close();
  await issuer.close();
  return row({
    ...{ name, work: '`guard.verify`; the limit is jose with the same keys', unit: '/s' },
    ...{ limit: median(rounds.limit), gatehouse: median(rounds.gatehouse) },
    ...{ bar: 'at least', least: 0.9, goal: 0.95, rounds },
  });
}

async function bareVerification({ issuer, resource }) {
  const read = async (url) => (await fetch(url)).json();
  const { jwks_uri: url } = await read(`${issuer}/.well-known/oauth-authorization-server`);
  const keys = createLocalJWKSet(await read(url));
  const expected = { issuer, audience: resource, typ: 'at+jwt', algorithms: ['ES256'] };
  return (token) => jwtVerify(token, keys, expected);
}

async function perSecond(verify, tokens, seconds) {
  const end = performance.now() + seconds * 1000;
  let done = 0;
  const work = async () => {
    while (performance.now() < end) {
      await verify(tokens[done % tokens.length]);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return done / seconds;
}

/** An operator disables one person after the other: each has sockets at every relay. */
async function leavers(context) {
  const { gatehouse, guardOptions, disable } = await startWithBackend(context);
  const relays = await Promise.all(
    Array.from({ length: RELAYS }, () => startRelay(context, guardOptions)),
  );
  const people = [];
  for (let index = 0; index < PEOPLE; index += 1) {
    const { accountId, token } = await signUp(gatehouse.url);
    people.push({ accountId, token: await exchange(gatehouse.url, token), sockets: [] });
  }
  await Promise.all(
    Array.from({ length: SOCKETS }, async (_none, index) => {
      const { token, sockets } = people[index % PEOPLE];
      sockets.push(await openRelaySocket(relays[index % RELAYS].url, token));
    }),
  );
  const times = [];
  for (const [index, { accountId, sockets }] of people.entries()) {
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    const begun = performance.now();
    await Promise.all([disable(accountId), closed]);
    times.push(performance.now() - begun);
    const wrong = people
      .slice(index + 1)
      .flatMap((one) => one.sockets)
      .filter(({ readyState }) => readyState !== WebSocket.OPEN).length;
    if (wrong > 0) {
      throw new Error(`${wrong} sockets of other people were closed.`);
    }
  }
  await Promise.all([...relays.map(({ stop }) => stop()), gatehouse.stop()]);
  return row({
    name,
    work: `a person is disabled, until the last of ${SOCKETS / PEOPLE} sockets of ${SOCKETS} at ${RELAYS} relays is closed, p99`,
    ...{ unit: 'ms', limit: null, gatehouse: quantile(times, 0.99), bar: 'at most' },
    ...{ least: 250, goal: 100, note: `median ${median(times).toFixed(0)} ms`, rounds: times },
  });
}
