import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from '../client.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import {
  ask as tell,
  cpuTimeMs,
  messageFrom,
  peakBytes,
  residentBytes,
  startLoad,
  startProgram,
} from '../processes.mjs';
import { inTurn, medianOf, ratioRow, row } from '../report.mjs';

const MIB = 1024 * 1024;
const CALLS_PER_ROUND = { 'notify-cli': 8, ask: 4 };
const LISTED_WITHIN_MS = 30_000;
const LIMITS = join(import.meta.dirname, '../limit');

/** Programs and the library as a person or a hook runs them, and how a server starts. */
export const groups = {
  notify,

  'notify-cli': (context) =>
    asUser(context, PLAIN, async ({ run, gatehouse, receiver: { url, counts } }) => {
      await gatehouse('encryption', 'plain', '--yes');
      await gatehouse('tokens', 'add', 'ExponentPushToken[bench]');
      await gatehouse('channels', 'add', `${url}/hook`, '--secret', 'a-secret-for-the-bench');
      const limit = () => run('notify.mjs', `${url}/--/api/v2/push/send`, `${url}/hook`);
      const notified = () => gatehouse('notify', 'ready', '--session', 'bench');
      await inTurn(1, limit, notified);
      Object.assign(counts, { push: 0, hook: 0 });
      const rounds = await inTurn(context.rounds * CALLS_PER_ROUND['notify-cli'], limit, notified);
      if (counts.push !== counts.hook) {
        throw new Error(`${counts.push} pushes and ${counts.hook} webhooks: not the same work.`);
      }
      return ratioRow({
        work: '`gatehouse notify`, one token and one signed webhook, whole process',
        unit: 'ms',
        rounds,
        least: 1.4,
        goal: 1.2,
        note: 'it also asks the server for settings and tokens, and writes the spool',
      });
    }),

  ask: (context) =>
    asUser(context, {}, async ({ url, home, run, gatehouse, receiver }) => {
      await gatehouse('channels', 'add', receiver.url);
      const token = await tokenIn(home);
      const limit = () => {
        const id = randomBytes(16).toString('base64url');
        const play = (role) => run('ask.mjs', role, url, token, id);
        return answered(url, token, play('ask'), () => play('answer'));
      };
      const asked = () => {
        const asking = gatehouse('ask', 'permission', '--tool', 'Bash', '--command', 'ls');
        return answered(url, token, asking, (id) => gatehouse('requests', 'answer', id, 'allow'));
      };
      await inTurn(1, limit, asked);
      return ratioRow({
        work: '`gatehouse ask`, answered by `gatehouse requests answer`, both processes whole',
        unit: 'ms',
        rounds: await inTurn(context.rounds * CALLS_PER_ROUND.ask, limit, asked),
        least: 6,
        goal: 4,
        note: 'it also reads settings, stores and seals the request, notifies, and checks the answer',
      });
    }),

  startup,
};

/** The server's accounts are plain, so that the command reads preferences where apps save them. */
const PLAIN = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: 'plain',
};

/**
 * Measures what a person runs who has signed up.
 *
 * @param {(user: object) => Promise<object>} measure `gatehouse` runs the command, `run` a file of `limit/`; both
 *   resolve with the ms from the start of the process to what it prints, or to its end
 */
async function asUser(context, env, measure) {
  const server = await startGatehouse(context, { env });
  const receiver = await startReceiver();
  const home = await mkdtemp(join(context.directory, 'home-'));
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    EXPO_BASE_URL: receiver.url,
    GATEHOUSE_PRIVATE_HOSTS: '127.0.0.1',
  };
  const program = join(context.dist, 'bin/gatehouse.js');
  const gatehouse = (...args) => runNode(environment, program, ...args);
  const run = (file, ...args) => runNode(environment, join(LIMITS, file), ...args);
  try {
    await gatehouse('signup', '--server', server.url);
    return [await measure({ url: server.url, home, run, gatehouse, receiver })];
  } finally {
    receiver.server.closeAllConnections();
    receiver.server.close();
    await server.stop();
  }
}

/** Not pinned: a person or a hook waits for the whole process. */
async function runNode(env, file, ...args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [file, ...args], { env, stdio: 'pipe' });
  let printedAt = null;
  let errors = '';
  child.stdout.once('data', () => (printedAt = performance.now()));
  child.stderr.on('data', (text) => (errors += text));
  const [code] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(`It exited with ${code}: ${errors}`);
  }
  return (printedAt ?? performance.now()) - startedAt;
}

/** Push service and webhook in one. */
async function startReceiver() {
  const counts = { push: 0, hook: 0 };
  const server = createServer(async (request, response) => {
    await once(request.resume(), 'end');
    const isPush = request.url.includes('/push/send');
    counts[isPush ? 'push' : 'hook'] += 1;
    const ticket = { data: [{ status: 'ok', id: randomUUID() }] };
    response.end(isPush ? JSON.stringify(ticket) : '');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, counts, url: `http://127.0.0.1:${server.address().port}` };
}

/** Answers what a running process asks, and returns how long that one took. */
async function answered(url, token, asking, answer) {
  const [ms] = await Promise.all([asking, listed(url, token).then(answer)]);
  return ms;
}

async function listed(url, token) {
  for (const until = performance.now() + LISTED_WITHIN_MS; performance.now() < until;) {
    const { requests } = await request(url, 'GET', '/v1/requests', { token });
    if (requests.length > 0) {
      return requests[0].id;
    }
    await sleep(5);
  }
  throw new Error('The request is not listed.');
}

async function tokenIn(home) {
  const servers = join(home, '.config/gatehouse/servers');
  const [directory] = await readdir(servers);
  return JSON.parse(await readFile(join(servers, directory, 'session.json'), 'utf8')).token;
}

const WEBHOOKS = 200;
const WARM_UP_SECONDS = 1;
const POSTED_WITHIN_MS = 120_000;
/** Deliveries before memory is looked at for the first time, and up to the second. */
const SETTLED = 40_000;
const MORE = 100_000;

async function notify(context) {
  const receiver = startLoad(context, 'webhook-receiver.mjs');
  const { port } = await messageFrom(receiver);
  const urls = Array.from({ length: WEBHOOKS }, (_, at) => `http://127.0.0.1:${port}/${at}`);
  // Without the build it is the limit.
  const [limit, library] = [undefined, context.dist].map((dist) =>
    startProgram(context, 'load/webhook-fan-out.mjs', { urls, dist }, ['--expose-gc']),
  );
  await Promise.all([limit, library].map((one) => messageFrom(one)));
  const sides = [limit, library].map((one) => () => fanOut(one, context.seconds));
  await Promise.all([limit, library].map((one) => fanOut(one, WARM_UP_SECONDS)));
  const rounds = await inTurn(context.rounds, ...sides);
  const micros = (side) => medianOf(side, 'cpuMicros').toFixed(0);
  const rows = [
    ratioRow({
      work: `one event to ${WEBHOOKS} webhooks, signed`,
      unit: '/s',
      rounds,
      field: 'perSecond',
      least: 0.7,
      goal: 0.85,
      note: `CPU a delivery ${micros(rounds.limit)} → ${micros(rounds.gatehouse)} µs`,
    }),
    await memoryRow(library),
  ];
  await Promise.all([receiver, limit, library].map((one) => one.stop()));
  return rows;
}

async function fanOut(sender, seconds) {
  const cpuBefore = cpuTimeMs(sender.pid);
  const { perSecond, posted } = await tell(sender, { seconds }, POSTED_WITHIN_MS);
  return { perSecond, cpuMicros: ((cpuTimeMs(sender.pid) - cpuBefore) * 1000) / posted };
}

async function memoryRow(library) {
  await tell(library, { deliveries: SETTLED }, POSTED_WITHIN_MS);
  const before = residentBytes(library.pid);
  await tell(library, { deliveries: MORE }, POSTED_WITHIN_MS);
  return row({
    work: `memory that ${MORE.toLocaleString('en')} deliveries leave behind`,
    unit: 'MiB',
    gatehouse: (residentBytes(library.pid) - before) / MIB,
    least: 16,
    note: `resident ${(before / MIB).toFixed(0)} MiB after the first ${SETTLED.toLocaleString('en')}`,
  });
}

const IDLE_AFTER_MS = 2_000;

async function startup(context) {
  const external = await startSeveralTimes(context, () => ({}));
  const first = await startSeveralTimes(context, (round) => embedded(context, `first-${round}`));
  const again = await startSeveralTimes(context, () => embedded(context, 'first-0'));
  const ready = (how, starts, least) =>
    row({
      work: `start to \`/readyz\` 200, ${how}`,
      unit: 'ms',
      gatehouse: medianOf(starts, 'readyAfterMs'),
      least,
      // It shows whether a slow start was work or a crowded machine.
      note: `${medianOf(starts, 'cpuMs').toFixed(0)} ms of CPU`,
      rounds: starts,
    });
  const memory = (work, starts, field, least) =>
    row({ work, unit: 'MiB', gatehouse: medianOf(starts, field), least });
  return [
    ready('external, migrated database', external, 500),
    memory('idle memory (RSS), external database', external, 'idleMiB', 110),
    ready('embedded, data directory present', again, 1_000),
    memory('idle memory (RSS), embedded database', again, 'idleMiB', 250),
    ready('embedded, the very first', first, 1_500),
    memory('most memory (RSS) of the very first start, embedded', first, 'peakMiB', 500),
  ];
}

function embedded(context, folder) {
  return {
    DATABASE_URL: undefined,
    SERVICE_MASTER_SECRET: undefined,
    SERVICE_DATA_DIR: join(context.directory, folder),
  };
}

/** Not pinned to one CPU: starting is what an operator waits for, on all the machine has. */
async function startSeveralTimes(context, envOf) {
  const starts = [];
  for (let round = 0; round < context.rounds; round += 1) {
    const gatehouse = await startGatehouse(context, { env: envOf(round), isPinned: false });
    const cpuMs = cpuTimeMs(gatehouse.pid);
    await sleep(IDLE_AFTER_MS);
    const idleMiB = residentBytes(gatehouse.pid) / MIB;
    const peakMiB = peakBytes(gatehouse.pid) / MIB;
    starts.push({ readyAfterMs: gatehouse.readyAfterMs, cpuMs, idleMiB, peakMiB });
    await gatehouse.stop();
  }
  return starts;
}
