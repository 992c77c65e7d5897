import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { transformFileSync } from '@swc/core';
import { signatureHeaders } from '../../src/packages/notify/webhook/webhook-signature.js';

const ROOT = join(import.meta.dirname, '../..');
const SECRET = 'documented secret';
const BODY = Buffer.from(
  JSON.stringify({
    channelId: 'channel-1',
    createdAt: 1_760_000_000_000,
    topic: 'ready',
    content: { title: 'Ready: ☕', body: '' },
    session: { sessionId: 's', title: '' },
    request: null,
    metadata: {},
  }),
);

/** The folder is below this one, so that the examples find the packages of the tests. */
let directory: string;

beforeAll(() => {
  mkdirSync(join(ROOT, 'test/.cache'), { recursive: true });
  directory = mkdtempSync(join(ROOT, 'test/.cache/examples-'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  for (const file of [
    ...['webhooks/verify', 'webhooks/payload'],
    ...['notify/webhook/webhook-signature', 'notify/webhook/signing-secret'],
  ]) {
    mkdirSync(join(directory, file, '..'), { recursive: true });
    writeFileSync(
      join(directory, `${file}.js`),
      transformFileSync(join(ROOT, 'src/packages', `${file}.ts`)).code,
    );
  }
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function exampleFor(name: string): string {
  const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
  const code = new RegExp(`\`\`\`js ${name}\n([^]*?)\`\`\``).exec(page)?.[1] ?? '';
  const library = pathToFileURL(join(directory, 'webhooks/verify.js')).href;
  return code.replace("'@gatehouse/webhooks'", `'${library}'`);
}

async function run(name: string): Promise<{ url: string; child: ChildProcess }> {
  const file = join(directory, `${name}.js`);
  writeFileSync(file, exampleFor(name));
  const port = await freePort();
  const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: SECRET };
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = `http://127.0.0.1:${port}/`;
  while (child.exitCode === null && !(await listens(url))) {
    await wait(50);
  }
  if (child.exitCode !== null) {
    throw new Error(`The example ${name} ended with ${child.exitCode}.`);
  }
  return { url, child };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function listens(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

async function post(url: string, secret: string, type = 'application/json'): Promise<number> {
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = signatureHeaders({ id: 'msg_1', timestamp, rawBody: BODY }, [secret]);
  const headers = { 'content-type': type, ...signed };
  return (await fetch(url, { method: 'POST', headers, body: BODY })).status;
}

/** Sends the beginning of a body, and disconnects. */
async function disconnect(url: string): Promise<void> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n');
  socket.write('Content-Length: 10\r\n\r\n{');
  await wait(100);
  socket.destroy();
  await wait(100);
}

describe('The examples in docs/webhooks.md', () => {
  it.each(['node', 'express', 'fastify'])(
    'accepts in %s a signed delivery, and nothing else',
    async (name) => {
      const { url, child } = await run(name);
      const ended = once(child, 'close');
      const output: string[] = [];
      child.stdout?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
      try {
        expect(await post(url, SECRET)).toBe(204);
        expect(await post(url, 'another secret')).toBe(401);
        const ofOtherType = await post(url, 'another secret', 'text/plain');
        expect(ofOtherType).toBe(name === 'node' ? 401 : 415);
        await disconnect(url);
        expect(await post(url, SECRET)).toBe(204);
      } finally {
        child.kill();
        await ended;
      }
      expect(output.join('')).toBe('ready Ready: ☕\n'.repeat(2));
    },
  );

  it('verifies in Python the signature of the body, and refuses any other header', () => {
    const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
    const [, code = ''] = /```python\n([^]*?)```/.exec(page) ?? [];
    const hex = createHmac('sha256', SECRET).update('{}').digest('hex');
    const calls = [`"sha256=${hex}"`, `"sha256=${hex}0"`, '"sha256=\\xe9"', 'None'];
    const printed = calls.map((header) => `print(is_valid(b"{}", ${header}, "${SECRET}"))`);
    const output = execFileSync('python3', ['-c', [code, ...printed].join('\n')]);
    expect(output.toString()).toBe('True\nFalse\nFalse\nFalse\n');
  });
});
