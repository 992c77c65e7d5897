import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const RECORD = join(import.meta.dirname, 'linked/record.mjs');
const TICKETS = JSON.stringify({ data: [{ status: 'ok', id: 'built' }] });
const LISTENING = /Listening on (http:[^\s"]+)/;

/**
 * Runs the linked programs once and keeps what V8 compiled of each chunk beside it, for the starts that
 * follow (docs/adr/0009-linked-programs.md).
 *
 * @param {{ root: string, work: string }} folders
 */
export async function keepCompiledCode({ root, work }) {
  const home = await mkdtemp(join(tmpdir(), 'gatehouse-build-'));
  try {
    await recordAll(join(root, 'dist/bin'), home);
    await mkdir(join(work, 'bin'));
    await keepLongest(home, join(work, 'bin'));
  } finally {
    await rm(home, { recursive: true });
  }
}

/** A server, and the commands that are run most: what they compile is most of what the others need. */
async function recordAll(bin, home) {
  const env = { PATH: process.env.PATH, HOME: home };
  const record = async (...args) =>
    spawn(process.execPath, [RECORD, bin, await mkdtemp(join(home, 'recorded-')), ...args], {
      env: { ...env, PORT: '0', HOST: '127.0.0.1', SERVICE_DATA_DIR: join(home, 'data') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const server = await record('server.js');
  // Webhook and push service in one.
  const receiver = createServer((_request, response) => response.end(TICKETS));
  try {
    await once(receiver.listen(0, '127.0.0.1'), 'listening');
    const receiverUrl = `http://127.0.0.1:${receiver.address().port}`;
    env.EXPO_BASE_URL = receiverUrl;
    const url = await addressOf(server);
    while (!(await fetch(`${url}/readyz`)).ok) {
      await sleep(100);
    }
    await fetch(`${url}/v1/features`);
    for (const command of [
      ['signup', '--server', url],
      ['channels', 'add', receiverUrl, '--new-secret'],
      ['tokens', 'add', 'ExponentPushToken[built]'],
      ['notify', 'ready', '--session', 'built'],
      ['tokens', 'list', '--json'],
    ]) {
      await succeeded(await record('gatehouse.js', ...command));
    }
    server.kill('SIGTERM');
    await succeeded(server);
  } finally {
    receiver.close();
    server.kill('SIGKILL');
  }
}

/** @returns {Promise<string>} where the server listens */
async function addressOf(server) {
  let log = '';
  for await (const chunk of server.stdout
    .setEncoding('utf8')
    .iterator({ destroyOnReturn: false })) {
    log += chunk;
    const [, url] = LISTENING.exec(log) ?? [];
    if (url) {
      server.stdout.resume();
      return url;
    }
  }
  throw new Error(`The linked server does not start: ${log}`);
}

async function succeeded(child) {
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const [code] = child.exitCode === null ? await once(child, 'close') : [child.exitCode];
  if (code !== 0) {
    throw new Error(`${child.spawnargs.slice(2).join(' ')} ended with ${code}: ${output}`);
  }
}

/** Several programs share a chunk: the one that compiled most of it counts. */
async function keepLongest(home, bin) {
  const files = (await readdir(home, { recursive: true })).filter((name) =>
    name.endsWith('.compiled'),
  );
  const bySize = await Promise.all(
    files.map(async (name) => ({ name, size: (await stat(join(home, name))).size })),
  );
  for (const { name } of bySize.sort((one, other) => one.size - other.size)) {
    await copyFile(join(home, name), join(bin, name.split('/').at(-1)));
  }
}
