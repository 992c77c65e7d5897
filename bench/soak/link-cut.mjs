import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { io } from 'socket.io-client';
import { postJson, signUp } from '../client.mjs';

const [cut, linked, cutCommand, healCommand] = process.argv.slice(2);
const WITHIN_MS = 60_000;

const run = (command) => execFileSync('/bin/sh', ['-c', command]);

async function until(probe) {
  const startedAt = Date.now();
  while (!(await probe().catch(() => false))) {
    if (Date.now() - startedAt > WITHIN_MS) {
      throw new Error(`It never happened: ${probe}`);
    }
    await sleep(50);
  }
  return Date.now() - startedAt;
}

const isReady = (url) => fetch(`${url}/readyz`).then(({ status }) => status === 200);

function connect(url, token) {
  const events = [];
  const options = { path: '/v1/updates', transports: ['websocket'], forceNew: true };
  const socket = io(url, { ...options, reconnection: false, auth: { token } });
  socket.onAny((name) => events.push(name));
  return {
    events,
    close: () => socket.close(),
    until: (name) => until(async () => events.includes(name)),
  };
}

/** Measures the time until a client of the other replica learns that its token was revoked. */
async function withdrawal(from, to) {
  const { token } = await signUp(from);
  const client = connect(to, token);
  await client.until('hello');
  await sleep(500);
  const startedAt = Date.now();
  await postJson(`${from}/v1/auth/logout`, {}, token);
  await client.until('closing');
  return Date.now() - startedAt;
}

async function hears(from, to) {
  const { token } = await signUp(from);
  const client = connect(to, token);
  await client.until('hello');
  await postJson(`${from}/v1/push-tokens`, { token: 'x' }, token);
  await sleep(300);
  client.close();
  return client.events.includes('update');
}

await Promise.all([cut, linked].map((url) => until(() => isReady(url))));
await until(() => hears(cut, linked));
const { token } = await signUp(cut);
const staying = [connect(cut, token), connect(linked, token)];
await Promise.all(staying.map((client) => client.until('hello')));

console.log('| what | ms |\n| --- | --- |');
console.log(
  `| withdrawn on the one, closed on the other, linked | ${await withdrawal(cut, linked)} |`,
);
run(cutCommand);
console.log(`| the same, the one cut off from Redis | ${await withdrawal(cut, linked)} |`);
console.log(`| the other way round | ${await withdrawal(linked, cut)} |`);
await sleep(15_000);
console.log(`| after 15 s without | ${await withdrawal(cut, linked)} |`);
run(healCommand);
console.log(`| until messages arrive again | ${await until(() => hears(cut, linked))} |`);
console.log(`| withdrawn again | ${await withdrawal(cut, linked)} |`);
const kept = staying.filter(({ events }) => !events.includes('closing')).length;
console.log(`| connections that stayed all the time, of 2 | ${kept} |`);
process.exit(0);
