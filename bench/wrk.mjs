import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { bearer, postJson, signUp } from './client.mjs';
import { startLimit } from './compare-http.mjs';
import { migrate, POOL_SIZE, startGatehouse } from './gatehouse.mjs';
import { openDatabase, stopClusters } from './postgres.mjs';
import { CPU_OF, cpuTimeMs, stopAll } from './processes.mjs';

const run = promisify(execFile);
const WARM_UP_SECONDS = 5;
const CONNECTIONS = 50;
const TOKENS = 3;
const DISCOVERY = '/.well-known/openid-configuration';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    dist: { type: 'string', default: 'dist' },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) {
  console.log(`node bench/wrk.mjs [--seconds 10] [--dist dist]
The same wrk command against Gatehouse, bare Fastify and oidc-provider. wrk has to be installed.`);
} else {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  try {
    await compareAll(directory);
  } finally {
    await stopClusters();
    await rm(directory, { recursive: true, force: true });
  }
}

async function compareAll(directory) {
  const database = await openDatabase(directory);
  try {
    const context = { directory, databaseUrl: database.url, dist: resolve(options.dist) };
    await migrate(context);
    console.log(`${await versions()}\nPostgreSQL ${database.description}\n`);
    const lines = [];
    for (const targets of [gatehouse, bareFastify, oidcProvider]) {
      const { stop, requests } = await targets(context);
      for (const request of requests) {
        console.error(`${request.what} …`);
        lines.push(await measure(request));
      }
      await stop();
    }
    console.log(`${commandOf(options.seconds, 'URL').join(' ')}\n\n${table(lines)}`);
  } finally {
    await stopAll();
    await database.close();
  }
}

async function versions() {
  const [fastify, provider] = await Promise.all(
    ['fastify', 'oidc-provider'].map(async (name) => {
      const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
      return `${name} ${JSON.parse(await readFile(file, 'utf8')).version}`;
    }),
  );
  // It has no option that succeeds, and names its version in its usage.
  const { stdout } = await run('wrk', ['--version']).catch((error) => error);
  const wrkVersion = /^wrk (?:debian\/)?(\S+)/.exec(stdout)?.[1] ?? 'not found';
  return `Node ${process.version}, ${fastify}, ${provider}, wrk ${wrkVersion}`;
}

function commandOf(seconds, url, token) {
  const pinned = CPU_OF.load === null ? [] : ['taskset', '-c', CPU_OF.load];
  const headers = Object.entries(bearer(token)).flatMap(([name, value]) => [
    '-H',
    `${name}: ${value}`,
  ]);
  const given = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '10s', '--latency'];
  return [...pinned, 'wrk', ...given, ...headers, url];
}

async function gatehouse(context) {
  const server = await startGatehouse(context);
  const { token } = await accountOf(server.url);
  return {
    stop: server.stop,
    requests: [
      { what: 'Gatehouse, discovery', server, path: '/v1/features' },
      { what: 'Gatehouse, an account reads its tokens', server, path: '/v1/push-tokens', token },
    ],
  };
}

/** Bare Fastify with the same bytes, and with the same select. */
async function bareFastify(context) {
  const reference = await startGatehouse(context);
  const account = await accountOf(reference.url);
  const response = await fetch(`${reference.url}/v1/features`);
  const body = await response.text();
  await reference.stop();
  const contentType = response.headers.get('content-type');
  const fixed = await startLimit(context, 'features.mjs', { body, contentType });
  const { databaseUrl } = context;
  const input = { databaseUrl, poolSize: POOL_SIZE, accounts: [account] };
  const lists = await startLimit(context, 'push-tokens.mjs', input);
  const { token } = account;
  return {
    stop: () => Promise.all([fixed.stop(), lists.stop()]),
    requests: [
      { what: 'bare Fastify, the same bytes', server: fixed, path: '/v1/features' },
      { what: 'bare Fastify, the same select', server: lists, path: '/v1/push-tokens', token },
    ],
  };
}

async function oidcProvider(context) {
  const server = await startLimit(context, 'openid-provider.mjs', {});
  const { token } = server;
  return {
    stop: server.stop,
    requests: [
      { what: 'oidc-provider, discovery', server, path: DISCOVERY },
      { what: 'oidc-provider, a person reads their claims', server, path: '/me', token },
    ],
  };
}

/** One account with push tokens, as the body of the answer needs them. */
async function accountOf(url) {
  const account = await signUp(url);
  for (let index = 0; index < TOKENS; index += 1) {
    const body = { token: `ExponentPushToken[${account.accountId}-${index}]` };
    await postJson(`${url}/v1/push-tokens`, body, account.token);
  }
  return account;
}

async function measure({ what, server, path, token }) {
  const url = `${server.url}${path}`;
  const { status, bytes } = await answerOf(url, token);
  if (status !== 200) {
    throw new Error(`${url} answered ${status}.`);
  }
  await wrk(commandOf(WARM_UP_SECONDS, url, token));
  const cpuBefore = cpuTimeMs(server.pid);
  const { requests, perSecond, p50, p99 } = await wrk(commandOf(options.seconds, url, token));
  const cpuMicros = ((cpuTimeMs(server.pid) - cpuBefore) * 1000) / requests;
  return [
    what,
    `\`GET ${path}\``,
    `${bytes}`,
    Math.round(perSecond).toLocaleString('en'),
    p50,
    p99,
    cpuMicros.toFixed(0),
  ];
}

async function answerOf(url, token) {
  const response = await fetch(url, { headers: bearer(token) });
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
}

/** Runs wrk, and reads what it prints. @throws when an answer was no success */
async function wrk([program, ...args]) {
  const { stdout } = await run(program, args);
  if (/Non-2xx|Socket errors/.test(stdout)) {
    throw new Error(stdout);
  }
  const found = (pattern) => pattern.exec(stdout)?.[1] ?? '';
  return {
    requests: Number(found(/(\d+) requests in/)),
    perSecond: Number(found(/Requests\/sec:\s+([\d.]+)/)),
    p50: found(/^\s+50%\s+(\S+)/m),
    p99: found(/^\s+99%\s+(\S+)/m),
  };
}

function table(lines) {
  const head = ['server', 'request', 'bytes', 'requests/s', 'p50', 'p99', 'CPU a request, µs'];
  const rule = head.map((_, index) => (index < 2 ? '---' : '---:'));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
