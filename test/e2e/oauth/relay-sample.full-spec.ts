import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { backends } from '../../fixtures/resource-server-fixture.js';
import { logIn } from '../../helpers/client.js';
import { RawWebSocket, refusedUpgrade, upgrade } from '../../helpers/raw-websocket.js';
import { waitFor } from '../../helpers/wait.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SAMPLE = join(ROOT, 'docs/samples/relay');
const PACKAGES = {
  '@gatehouse/guard': 'dist/npm/guard',
  '@gatehouse/client': 'dist/npm/client',
  express: 'test/node_modules/express',
  ws: 'node_modules/ws',
};

interface Program {
  readonly child: ChildProcess;
  output(): string;
  write(line: string): void;
  printed(text: string): Promise<void>;
}

describe('docs/samples/relay', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'gatehouse-relay-')), 'relay');
  const running: ChildProcess[] = [];
  let server: Server;
  let env: Record<string, string>;
  let RESOURCE: string;
  let remove: () => void;

  beforeAll(async () => {
    cpSync(SAMPLE, folder, { recursive: true });
    for (const [name, path] of Object.entries(PACKAGES)) {
      mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true });
      symlinkSync(join(ROOT, path), join(folder, 'node_modules', name));
    }
    const [gate, port] = [await freePort(), await freePort()];
    const ISSUER = `http://127.0.0.1:${gate}`;
    RESOURCE = `http://127.0.0.1:${port}`;
    const setup = backends([{ id: 'relay', resource: RESOURCE }]);
    remove = () => setup.remove();
    server = await startServer({
      env: { ...setup.env, PORT: String(gate), SERVICE_PUBLIC_URL: ISSUER },
    });
    const [{ client }] = JSON.parse(setup.env['AUTH_RESOURCE_SERVERS_CONFIG_JSON'] ?? '') as [
      { client: { secretFile: string } },
    ];
    env = { ISSUER, RESOURCE, PORT: String(port), CLIENT_SECRET_FILE: client.secretFile };
  });
  afterAll(async () => {
    running.forEach((child) => child.kill('SIGKILL'));
    await server.stop();
    remove();
    rmSync(join(folder, '..'), { recursive: true });
  });

  function start(...args: readonly string[]): Program {
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: 'pipe' });
    running.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    return {
      child,
      output: () => output,
      write: (line) => void child.stdin.write(`${line}\n`),
      printed: async (text) => {
        await waitFor(
          () => `${text}, after ${output}`,
          () => output.includes(text),
        );
      },
    };
  }

  it('closes the socket of the person who leaves, and no other', async () => {
    const relay = start('relay.mjs');
    await relay.printed(`The relay listens on ${RESOURCE}`);
    const [anna, bert, other] = [start('talk.mjs'), start('talk.mjs'), start('talk.mjs', 'attic')];
    await Promise.all([anna.printed('joined'), bert.printed('joined'), other.printed('joined')]);

    anna.write('hello');
    await Promise.all([anna.printed(': hello'), bert.printed(': hello')]);
    const exited = once(anna.child, 'exit');
    anna.write('/leave');
    await exited;
    const [closed = ''] = /^closed: .*$/m.exec(anna.output()) ?? [];
    expect(readFileSync(join(SAMPLE, 'README.md'), 'utf8')).toContain(`\`\`\`\n${closed}\n\`\`\``);

    bert.write('still here');
    await bert.printed(': still here');
    expect(other.output()).not.toContain('here');
    expect(other.output()).not.toContain('closed');
  });

  it('survives a frame and a path that are not valid', async () => {
    const { token } = await logIn(server);
    const client = new GatehouseClient({ serverUrl: server.url, token });
    const headers = { authorization: `Bearer ${await client.tokenFor(RESOURCE)}` };
    const { port } = new URL(RESOURCE);
    const opened = await upgrade({ port: Number(port) }, { path: '/lobby', headers });
    if (!(opened instanceof RawWebSocket)) {
      throw new Error(`The upgrade was refused: ${opened.text}`);
    }
    await opened.flood(15, '', 1);
    await opened.closed;
    expect(await refusedUpgrade({ port: Number(port) }, { path: '//', headers })).toMatchObject({
      status: 400,
    });
    const answer = await fetch(`${RESOURCE}/channels`, { headers });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('attic')]);
  });

  it('refuses a request without a token', async () => {
    const { status, headers } = await fetch(`${RESOURCE}/channels`);
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('Bearer'),
    ]);
  });
});
