import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { backends } from '../../fixtures/resource-server-fixture.js';
import { SampleFixture, type SampleProgram } from '../../fixtures/sample-fixture.js';
import { logIn } from '../../helpers/client.js';
import { RawWebSocket, refusedUpgrade, upgrade } from '../../helpers/raw-websocket.js';
import { waitFor } from '../../helpers/wait.js';

const SAMPLE = fileURLToPath(new URL('../../../docs/samples/relay', import.meta.url));
/** The opcode of a text frame (RFC 6455, 5.2). */
const TEXT = 1;
/** The relay keeps more for a reader. */
const MESSAGES = 10;

const PACKAGES = {
  '@gatehouse/guard': 'dist/npm/guard',
  '@gatehouse/client': 'dist/npm/client',
  express: 'test/node_modules/express',
  ws: 'node_modules/ws',
};

describe('docs/samples/relay', () => {
  const sample = new SampleFixture('relay', PACKAGES);
  let server: Server;
  let env: Record<string, string>;
  let RESOURCE: string;

  beforeAll(async () => {
    const [gate, port] = [await freePort(), await freePort()];
    const ISSUER = `http://127.0.0.1:${gate}`;
    RESOURCE = `http://127.0.0.1:${port}`;
    const setup = backends([{ id: 'relay', resource: RESOURCE }]);
    server = await startServer({
      env: { ...setup.env, PORT: String(gate), SERVICE_PUBLIC_URL: ISSUER },
    });
    const [{ client }] = JSON.parse(setup.env['AUTH_RESOURCE_SERVERS_CONFIG_JSON'] ?? '') as [
      { client: { secretFile: string } },
    ];
    env = { ISSUER, RESOURCE, PORT: String(port), CLIENT_SECRET_FILE: client.secretFile };
  });
  afterAll(async () => {
    sample.close();
    await server.stop();
  });

  const start = (...args: readonly string[]): SampleProgram => sample.start(args, env);

  it('closes the socket of the person who leaves, and no other', async () => {
    const relay = start('relay.mjs');
    await relay.printed(`The relay listens on ${RESOURCE}`);
    const [anna, bert, other] = [start('talk.mjs'), start('talk.mjs'), start('talk.mjs', 'attic')];
    await Promise.all([anna.printed('joined'), bert.printed('joined'), other.printed('joined')]);

    anna.write('hello');
    await Promise.all([anna.printed(': hello'), bert.printed(': hello')]);
    const closed = once(anna.child, 'close');
    anna.write('/leave');
    await closed;
    const [reason = ''] = /^closed: .*$/m.exec(anna.output()) ?? [];
    expect(readFileSync(join(SAMPLE, 'README.md'), 'utf8')).toContain(`\`\`\`\n${reason}\n\`\`\``);

    bert.write('still here');
    await bert.printed(': still here');
    expect(other.output()).not.toContain('here');
    expect(other.output()).not.toContain('closed');
  });

  const joined = async (path: string) => {
    const { token } = await logIn(server);
    const client = new GatehouseClient({ serverUrl: server.url, token });
    const headers = { authorization: `Bearer ${await client.tokenFor(RESOURCE)}` };
    const { port } = new URL(RESOURCE);
    const socket = await upgrade({ port: Number(port) }, { path, headers });
    if (!(socket instanceof RawWebSocket)) {
      throw new Error(`The upgrade was refused: ${socket.text}`);
    }
    return { socket, headers, port };
  };

  it('closes a socket that does not read, and no other', async () => {
    const { socket: silent, headers } = await joined('/quiet');
    const { socket: talker } = await joined('/quiet');
    silent.stopReading();
    await waitFor('the silent socket is closed', async () => {
      // The talker reads all of it before it sends more.
      talker.texts.length = 0;
      await talker.flood(TEXT, 'x'.repeat(60_000), MESSAGES);
      await waitFor('its own messages', () => talker.texts.length === MESSAGES);
      const answer = await fetch(`${RESOURCE}/channels`, { headers });
      return (await answer.text()).includes('{"name":"/quiet","people":1}');
    });
    expect(talker.isOpen).toBe(true);
  });

  it('survives a frame and a path that are not valid', async () => {
    const { socket: opened, headers, port } = await joined('/lobby');
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
