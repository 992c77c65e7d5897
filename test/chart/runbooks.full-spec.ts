import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startServer, type Server } from '../fixtures/programs/server-fixture.js';

const run = promisify(execFile);
const TOKEN = 'a-metrics-token-of-the-spec';
const page = readFileSync(join(import.meta.dirname, '../../docs/runbooks.md'), 'utf8');
const [, functions = ''] = /^```sh\n(.*?)^```/ms.exec(page) ?? [];

const directory = mkdtempSync(join(tmpdir(), 'gatehouse-runbooks-'));
let server: Server;
let variables: Record<string, string>;

beforeAll(async () => {
  const file = join(directory, 'token');
  writeFileSync(file, `${TOKEN}\n`);
  // It runs what follows "--" here, as kubectl does in a pod.
  const kubectl =
    '#!/bin/sh\nprintf "%s " "$@" >&2\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n';
  writeFileSync(join(directory, 'kubectl'), kubectl, { mode: 0o755 });
  server = await startServer({ env: { METRICS_PORT: '0', METRICS_TOKEN_FILE: file } });
  const [, metricsPort = ''] = await server.logged(/Metrics on port (\d+)/);
  variables = { PORT: String(server.port), METRICS_PORT: metricsPort, METRICS_TOKEN_FILE: file };
});
afterAll(() => server.stop());

/** Runs a command of the page after its functions, as an operator does. */
function inShell(command: string) {
  const env = { ...variables, PATH: `${directory}:${dirname(process.execPath)}:/usr/bin:/bin` };
  return run('bash', ['--norc', '-euc', `${functions}\n${command}`], { env });
}

it('reads the metrics inside of a pod, with the token that is there', async () => {
  const { stdout, stderr } = await inShell('metrics | grep -e gatehouse_ready');
  expect(stdout).toContain('gatehouse_ready 1\n');
  expect(stderr).toContain('-n gatehouse exec deploy/gate-gatehouse -c gatehouse -- node');
});

it('reads the readiness of the pod that is named', async () => {
  const { stdout, stderr } = await inShell('POD=gate-gatehouse-a readyz');
  expect(JSON.parse(stdout)).toMatchObject({ status: 'ready' });
  expect(stderr).toContain('exec gate-gatehouse-a -c gatehouse');
});

it('names no namespace, release or Deployment outside of the variables', () => {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].slice(1).map(([, text]) => text);
  expect(blocks.length).toBeGreaterThan(10);
  for (const text of blocks) {
    expect(text).not.toMatch(/kubectl|gate-gatehouse|\/proxy\//);
  }
});
