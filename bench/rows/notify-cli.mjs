import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startGatehouse } from '../gatehouse.mjs';
import { median, row } from '../report.mjs';

const name = 'notify-cli';
const CALLS_PER_ROUND = 8;
const LIMIT = fileURLToPath(new URL('../limit/notify.mjs', import.meta.url));
const run = promisify(execFile);

/** The server's accounts are plain, so that the command reads preferences where apps save them. */
const PLAIN = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: 'plain',
};

export const group = {
  name,
  run: async (context) => {
    const gatehouse = await startGatehouse(context, { env: PLAIN });
    const receiver = await startReceiver();
    try {
      return [await wholeProcessRow(context, gatehouse.url, receiver)];
    } finally {
      receiver.server.close();
      receiver.server.closeAllConnections();
      await gatehouse.stop();
    }
  },
};

async function wholeProcessRow(context, serverUrl, { url, counts }) {
  const home = await mkdtemp(join(context.directory, 'notify-'));
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, EXPO_BASE_URL: url },
    GATEHOUSE_PRIVATE_HOSTS: '127.0.0.1',
  };
  const gatehouse = (...args) => node(env, join(context.dist, 'bin/gatehouse.js'), ...args);
  const push = `${url}/--/api/v2/push/send`;
  await gatehouse('signup', '--server', serverUrl);
  await gatehouse('encryption', 'plain', '--yes');
  await gatehouse('tokens', 'add', 'ExponentPushToken[bench]');
  await gatehouse('channels', 'add', `${url}/hook`, '--secret', 'a-secret-for-the-bench');
  const limit = () => node(env, LIMIT, push, `${url}/hook`);
  const notify = () => gatehouse('notify', 'ready', '--session', 'bench');
  await Promise.all([limit(), notify()]);
  const before = { ...counts };
  const rounds = { limit: [], gatehouse: [] };
  for (let call = 0; call < context.rounds * CALLS_PER_ROUND; call += 1) {
    rounds.limit.push(await limit());
    rounds.gatehouse.push(await notify());
  }
  requireEqual(counts.push - before.push, counts.hook - before.hook);
  return row({
    name,
    work: '`gatehouse notify`, one token and one signed webhook, whole process',
    unit: 'ms',
    limit: median(rounds.limit),
    gatehouse: median(rounds.gatehouse),
    bar: 'at most',
    least: 1.4,
    goal: 1.2,
    note: 'it also asks the server for settings and tokens, and writes the spool',
    rounds,
  });
}

/** Milliseconds that a whole process takes. Not pinned: that is what a hook waits for. */
async function node(env, file, ...args) {
  const startedAt = performance.now();
  await run(process.execPath, [file, ...args], { env });
  return performance.now() - startedAt;
}

/** Push service and webhook in one. */
async function startReceiver() {
  const counts = { push: 0, hook: 0 };
  const server = createServer(async (request, response) => {
    request.resume();
    await once(request, 'end');
    const isPush = request.url.includes('/push/send');
    counts[isPush ? 'push' : 'hook'] += 1;
    const ticket = { data: [{ status: 'ok', id: randomUUID() }] };
    response.end(isPush ? JSON.stringify(ticket) : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, counts, url: `http://127.0.0.1:${server.address().port}` };
}

function requireEqual(pushes, webhooks) {
  if (pushes !== webhooks) {
    throw new Error(`${pushes} pushes and ${webhooks} webhooks arrived: not the same work.`);
  }
}
