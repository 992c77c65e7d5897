import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startGatehouse } from '../gatehouse.mjs';
import { median, row } from '../report.mjs';

const name = 'ask';
const CALLS_PER_ROUND = 4;
const LISTED_WITHIN_MS = 30_000;
const LIMIT = fileURLToPath(new URL('../limit/ask.mjs', import.meta.url));

/** From `gatehouse ask` to the printed answer of another process, which starts once it is listed. */
export const group = {
  name,
  run: async (context) => {
    const gatehouse = await startGatehouse(context);
    const webhook = createServer((request, response) => {
      request.resume();
      response.end();
    });
    webhook.listen(0, '127.0.0.1');
    await once(webhook, 'listening');
    try {
      return [await askRow(context, gatehouse.url, `http://127.0.0.1:${webhook.address().port}`)];
    } finally {
      webhook.close();
      webhook.closeAllConnections();
      await gatehouse.stop();
    }
  },
};

async function askRow(context, url, webhook) {
  const home = await mkdtemp(join(context.directory, 'ask-'));
  const env = { PATH: process.env.PATH, HOME: home, GATEHOUSE_PRIVATE_HOSTS: '127.0.0.1' };
  const gatehouse = (...args) => start(env, join(context.dist, 'bin/gatehouse.js'), ...args);
  await ended(gatehouse('signup', '--server', url));
  await ended(gatehouse('channels', 'add', webhook));
  const token = await tokenIn(home);
  const rounds = { limit: [], gatehouse: [] };
  const limit = async () => {
    const id = Buffer.from(randomBytes(16)).toString('base64url');
    const limitOf = (role) => start(env, LIMIT, role, url, token, id);
    return answered(url, token, limitOf('ask'), () => limitOf('answer'));
  };
  const ask = () =>
    answered(
      url,
      token,
      gatehouse('ask', 'permission', '--tool', 'Bash', '--command', 'ls'),
      (id) => gatehouse('requests', 'answer', id, 'allow'),
    );
  await limit();
  await ask();
  for (let call = 0; call < context.rounds * CALLS_PER_ROUND; call += 1) {
    rounds.limit.push(await limit());
    rounds.gatehouse.push(await ask());
  }
  return row({
    name,
    work: '`gatehouse ask`, answered by `gatehouse requests answer`, both processes whole',
    unit: 'ms',
    limit: median(rounds.limit),
    gatehouse: median(rounds.gatehouse),
    bar: 'at most',
    least: 6,
    goal: 4,
    note: 'it also reads settings, stores and seals the request, notifies, and checks the answer',
    rounds,
  });
}

/** Milliseconds from the start of the asking process, which runs, to its end. */
async function answered(url, token, asking, answer) {
  const { startedAt } = asking;
  const asked = ended(asking);
  const answering = ended(answer(await listed(url, token)));
  await Promise.all([asked, answering]);
  return (await asked) - startedAt;
}

async function listed(url, token) {
  const headers = { authorization: `Bearer ${token}` };
  for (const until = performance.now() + LISTED_WITHIN_MS; performance.now() < until;) {
    const answer = await fetch(`${url}/v1/requests`, { headers });
    const { requests } = await answer.json();
    if (requests.length > 0) {
      return requests[0].id;
    }
    await sleep(5);
  }
  throw new Error('The request is not listed.');
}

/** Not pinned, as a person starts them. */
function start(env, file, ...args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [file, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const state = { startedAt, child, stderr: '', printedAt: null };
  child.stderr.on('data', (text) => (state.stderr += text));
  child.stdout.once('data', () => (state.printedAt = performance.now()));
  return state;
}

/** Returns the time at which the process printed its result, or ended without one. */
async function ended(state) {
  const [code] = await once(state.child, 'close');
  if (code !== 0) {
    throw new Error(`It exited with ${code}: ${state.stderr}`);
  }
  return state.printedAt ?? performance.now();
}

async function tokenIn(home) {
  const servers = join(home, '.config/gatehouse/servers');
  const [directory] = await readdir(servers);
  return JSON.parse(await readFile(join(servers, directory, 'session.json'), 'utf8')).token;
}
