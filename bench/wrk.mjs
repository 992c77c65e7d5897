import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { bearer } from './client.mjs';
import { startGatehouse } from './gatehouse.mjs';
import { CPU_OF, cpuTimeMs, startLimit } from './processes.mjs';
import { markdownTable } from './report.mjs';
import { databaseOf, featuresOf, signUpWithTokens } from './rows/http.mjs';

const runProgram = promisify(execFile);
const WARM_UP_SECONDS = 5;
const CONNECTIONS = 50;

/** The same wrk command against Gatehouse, bare Fastify and oidc-provider. wrk has to be installed. */
export const groups = {
  gatehouse: async (context) => {
    console.log(await versions());
    const server = await startGatehouse(context);
    const { token } = await signUpWithTokens(server.url);
    return measureAll(context, [
      { what: 'Gatehouse, discovery', server, path: '/v1/features' },
      { what: 'Gatehouse, an account reads its tokens', server, path: '/v1/push-tokens', token },
    ]);
  },

  'bare-fastify': async (context) => {
    const reference = await startGatehouse(context);
    const account = await signUpWithTokens(reference.url);
    const document = await featuresOf(reference.url);
    await reference.stop();
    const fixed = await startLimit(context, 'features.mjs', document);
    const input = databaseOf(context, { accounts: [account] });
    const lists = await startLimit(context, 'push-tokens.mjs', input);
    const { token } = account;
    return measureAll(context, [
      { what: 'bare Fastify, the same bytes', server: fixed, path: '/v1/features' },
      { what: 'bare Fastify, the same select', server: lists, path: '/v1/push-tokens', token },
    ]);
  },

  'oidc-provider': async (context) => {
    const server = await startLimit(context, 'openid-provider.mjs');
    const { token } = server;
    const discovery = '/.well-known/openid-configuration';
    return measureAll(context, [
      { what: 'oidc-provider, discovery', server, path: discovery },
      { what: 'oidc-provider, a person reads their claims', server, path: '/me', token },
    ]);
  },
};

export function requestsTable(results) {
  const head = ['server', 'request', 'bytes', 'requests/s', 'p50', 'p99', 'CPU a request, µs'];
  const lines = results.map(({ what, path, bytes, perSecond, p50, p99, cpuMicros }) => [
    ...[what, `\`GET ${path}\``, `${bytes}`, Math.round(perSecond).toLocaleString('en')],
    ...[p50, p99, cpuMicros.toFixed(0)],
  ]);
  return markdownTable(head, lines, (_, index) => (index < 2 ? '---' : '---:'));
}

async function versions() {
  const [fastify, provider] = await Promise.all(
    ['fastify', 'oidc-provider'].map(async (name) => {
      const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
      return `${name} ${JSON.parse(await readFile(file, 'utf8')).version}`;
    }),
  );
  // It has no option that succeeds, and names its version in its usage.
  const { stdout } = await runProgram('wrk', ['--version']).catch((error) => error);
  const wrkVersion = /^wrk (?:debian\/)?(\S+)/.exec(stdout)?.[1] ?? 'not found';
  return `${fastify}, ${provider}, wrk ${wrkVersion}\n`;
}

async function measureAll({ seconds }, requests) {
  const results = [];
  for (const { server, ...request } of requests) {
    const { path, token } = request;
    const url = `${server.url}${path}`;
    const response = await fetch(url, { headers: headersOf(token) });
    const bytes = (await response.arrayBuffer()).byteLength;
    if (response.status !== 200) {
      throw new Error(`${url} answered ${response.status}.`);
    }
    await wrk(WARM_UP_SECONDS, url, token);
    const cpuBefore = cpuTimeMs(server.pid);
    const figures = await wrk(seconds, url, token);
    const cpuMicros = ((cpuTimeMs(server.pid) - cpuBefore) * 1000) / figures.requests;
    results.push({ ...request, bytes, ...figures, cpuMicros });
  }
  return results;
}

function headersOf(token) {
  return token === undefined ? {} : bearer(token);
}

/** Runs wrk, and reads what it prints. @throws when an answer was no success */
async function wrk(seconds, url, token) {
  const pinned = CPU_OF.load === null ? [] : ['taskset', '-c', CPU_OF.load];
  const headers = Object.entries(headersOf(token)).map(([name, value]) => `-H${name}: ${value}`);
  const given = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '10s', '--latency'];
  const [program, ...args] = [...pinned, 'wrk', ...given, ...headers, url];
  const { stdout } = await runProgram(program, args);
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
