import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as oauth from 'oauth4webapi';
import { allow, NotesFixture, openAsNewPerson } from '../../fixtures/mcp/notes-fixture.js';
import { CallbackListener, ProgramStore } from '../../fixtures/mcp/program-fixture.js';
import { inChromium, useChromium, type Visitor } from '../../fixtures/programs/browser-fixture.js';
import { waitFor } from '../../helpers/wait.js';
import { sees } from '../web/account-page-acts.js';
import { KEEPS_PICTURES, RESULTS } from '../web/page-screenshots.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { INSPECTOR } from '../../fixtures/programs-fixture.js';
import { hasRegistry } from '../../fixtures/programs/packages-fixture.js';
import { outputOf } from '../../helpers/child-output.js';

const fixture = await NotesFixture.start();
const listener = await CallbackListener.open();
afterAll(async () => {
  listener.close();
  await fixture.close();
});

/** A program that is made of an SDK. */
interface Program {
  connect(): Promise<void>;
  /** Redeems the code of the answer. */
  finish(answer: URLSearchParams): Promise<void>;
  call(name: string, input: Record<string, unknown>): Promise<string>;
  readonly errors: readonly string[];
  close(): Promise<void>;
}

const INFO = { name: 'Inspector', version: '1.0.0' };

function version1(store: ProgramStore): Program {
  const transport = new Transport1(new URL(fixture.resource), { authProvider: store });
  const client = new Client1(INFO);
  const errors: string[] = [];
  client.onerror = ({ message }) => errors.push(message);
  return {
    connect: () => client.connect(transport),
    finish: (answer) => transport.finishAuth(answer.get('code') ?? ''),
    call: async (name, input) => JSON.stringify(await client.callTool({ name, arguments: input })),
    errors,
    close: () => client.close(),
  };
}

function version2(store: ProgramStore, mode: 'legacy' | 'auto' = 'legacy'): Program {
  const transport = new Transport2(new URL(fixture.resource), { authProvider: store });
  const client = new Client2(INFO, { versionNegotiation: { mode } });
  const errors: string[] = [];
  client.onerror = ({ message }) => errors.push(message);
  return {
    connect: () => client.connect(transport),
    finish: (answer) => transport.finishAuth(answer),
    call: async (name, input) => JSON.stringify(await client.callTool({ name, arguments: input })),
    errors,
    close: () => client.close(),
  };
}

const visit = useChromium();

/** Lets the person allow what the program asks for, and redeems the code. */
async function allowIn(visitor: Visitor, program: Program): Promise<void> {
  const answer = listener.next();
  await allow(visitor);
  await program.finish(await answer);
}

/** Keeps the picture of docs/connect-mcp.md. */
async function keepPicture({ page }: Visitor): Promise<void> {
  if (KEEPS_PICTURES) {
    await page.setViewportSize({ width: 640, height: 920 });
    mkdirSync(join(RESULTS, 'connect-mcp'), { recursive: true });
    const path = join(RESULTS, 'connect-mcp/connect-mcp.png');
    await page.screenshot({ path, animations: 'disabled' });
  }
}

inChromium('a program made with an SDK of MCP', () => {
  it.each([
    ['1.32.2', version1],
    ['2.4.0', version2],
    ['2.4.0 (probing for 2026-07-28)', (store: ProgramStore) => version2(store, 'auto')],
  ])(
    'goes with %s from 401 to a tool, asks for more, and ends with its person',
    async (version, make) => {
      const store = new ProgramStore(listener.url);
      const first = make(store);
      await expect(first.connect()).rejects.toThrow('Unauthorized');
      const visitor = await openAsNewPerson(visit, store.authorization);
      await allowIn(visitor, first);
      expect(store.tokens()).toMatchObject({ scope: 'notes:read' });

      let program = make(store);
      await program.connect();
      expect(await program.call('read_notes', {})).toBe('{"content":[]}');
      store.expireAccess();
      expect(await program.call('read_notes', {})).toBe('{"content":[]}');
      expect(store.tokens()?.access_token).not.toBe('expired');

      const write = () => program.call('write_note', { text: 'buy milk' });
      if (version === '1.32.2') {
        // This version refreshes in place of asking the person. It asks where it has no refresh token,
        // and not twice in a connection.
        await expect(write()).rejects.toThrow('Server returned 403 after trying upscoping');
        await program.close();
        store.forgetRefreshToken();
        program = make(store);
        await program.connect();
      }
      await expect(write()).rejects.toThrow('Unauthorized');
      await visitor.page.goto(store.authorization);
      await sees(visitor, 'Change your notes');
      await keepPicture(visitor);
      await allowIn(visitor, program);
      expect(store.tokens()).toMatchObject({ scope: 'notes:read notes:write' });
      expect(await write()).toContain('Added.');

      expect(program.errors.join()).not.toContain('SSE stream disconnected');
      await fixture.disable(store.tokens()?.access_token ?? '');
      await waitFor('the end of the stream', () =>
        program.errors.join().includes('SSE stream disconnected'),
      );
      await expect(program.call('read_notes', {})).rejects.toThrow('Unauthorized');
      // The program drops its tokens at `invalid_grant` alone.
      expect(store.tokens()).toBeUndefined();
      await program.close();
      await first.close();
    },
  );
});

const COMMAND = fileURLToPath(
  new URL('../../node_modules/mcp-remote/dist/proxy.js', import.meta.url),
);
const home = mkdtempSync(join(tmpdir(), 'gatehouse-mcp-remote-'));

/** An editor that knows local servers alone, and mcp-remote as its local server. */
async function editor() {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      COMMAND,
      fixture.resource,
      String(await freePort()),
      ...['--host', '127.0.0.1'],
      ...['--callback-path', '/callback'],
      ...['--auth-timeout', '600'],
      ...['--static-oauth-client-info', JSON.stringify({ client_id: INSPECTOR.id })],
    ],
    env: { HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: '/nonexistent' },
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const client = new Client1({ name: 'Editor', version: '1.0.0' });
  return { client, connected: client.connect(transport), log: () => log };
}

inChromium('mcp-remote', () => {
  it('signs a person in for an editor, and keeps their access for its next start', async () => {
    const first = await editor();
    first.connected.catch(() => undefined);
    const address = (): string =>
      /http:\/\/127\.0\.0\.1:\d+\/v1\/oauth\/authorize\S+/.exec(first.log())?.[0] ?? '';
    await waitFor(
      () => `the address of the request, after ${first.log()}`,
      () => address() !== '',
    );
    const visitor = await openAsNewPerson(visit, address());
    await visitor.press('Allow');
    await first.connected;
    expect(await first.client.callTool({ name: 'read_notes' })).toEqual({ content: [] });
    await first.client.close();

    const next = await editor();
    await next.connected;
    expect(await next.client.callTool({ name: 'read_notes' })).toEqual({ content: [] });
    expect(next.log()).not.toContain('/v1/oauth/authorize');
    await next.client.close();
  });
});

/** The servers of this spec have no certificates. */
const OPTIONS = { [oauth.allowInsecureRequests]: true };
const CLIENT = { client_id: INSPECTOR.id };

/** Returns the metadata of the authorization server that the challenge of the resource leads to. */
async function discover(resource: URL): Promise<oauth.AuthorizationServer> {
  const metadata = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, OPTIONS),
  );
  const issuer = new URL(metadata.authorization_servers?.[0] ?? '');
  const answer = await oauth.discoveryRequest(issuer, { ...OPTIONS, algorithm: 'oauth2' });
  return oauth.processDiscoveryResponse(issuer, answer);
}

inChromium('a program made with oauth4webapi, which knows the standards alone', () => {
  it('goes from 401 to the resource, refreshes and ends its access', async () => {
    const resource = new URL(fixture.resource);
    const challenged = await fetch(resource);
    expect(challenged.status).toBe(401);
    const server = await discover(resource);
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const request = new URL(server.authorization_endpoint ?? '');
    request.search = new URLSearchParams({
      ...CLIENT,
      state,
      response_type: 'code',
      scope: 'notes:read notes:write',
      redirect_uri: listener.url,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource: resource.href,
    }).toString();
    const visitor = await openAsNewPerson(visit, request.href);
    await visitor.page.getByLabel('Change your notes').uncheck();
    const answered = listener.next();
    await allow(visitor);
    const parameters = oauth.validateAuthResponse(server, CLIENT, await answered, state);

    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      CLIENT,
      await oauth.authorizationCodeGrantRequest(
        server,
        CLIENT,
        oauth.None(),
        parameters,
        listener.url,
        verifier,
        { ...OPTIONS, additionalParameters: { resource: resource.href } },
      ),
    );
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'notes:read', expires_in: 900 });
    expect(await claimsAt(server, tokens.access_token)).toMatchObject({
      client_id: INSPECTOR.id,
      scope: 'notes:read',
    });

    const refresh = async () =>
      oauth.processRefreshTokenResponse(
        server,
        CLIENT,
        await oauth.refreshTokenGrantRequest(
          server,
          CLIENT,
          oauth.None(),
          tokens.refresh_token ?? '',
          OPTIONS,
        ),
      );
    const refreshed = await refresh();
    expect(await claimsAt(server, refreshed.access_token)).toMatchObject({ scope: 'notes:read' });

    await oauth.processRevocationResponse(
      await oauth.revocationRequest(
        server,
        CLIENT,
        oauth.None(),
        refreshed.refresh_token ?? '',
        OPTIONS,
      ),
    );
    await expect(refresh()).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});

/** Verifies a token by RFC 9068 alone, as a backend without the guard does. */
function claimsAt(server: oauth.AuthorizationServer, token: string) {
  const request = new Request(fixture.resource, { headers: { authorization: `Bearer ${token}` } });
  return oauth.validateJwtAccessToken(server, request, fixture.resource, OPTIONS);
}

const TEST_FOLDER = fileURLToPath(new URL('../../', import.meta.url));
const CONFORMANCE = join(
  TEST_FOLDER,
  'node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
/** The tests use functions of Node that its oldest supported versions lack. */
const CONFORMANCE_NODE = '26.10.0';

(hasRegistry() ? inChromium : describe.skip)(
  'the conformance tests of MCP for authorization servers',
  () => {
    let node: string;

    beforeAll(async () => {
      const release = [join(TEST_FOLDER, 'helpers/node-release.mjs'), CONFORMANCE_NODE];
      node = join((await promisify(execFile)(process.execPath, release)).stdout, 'node');
    });

    it('pass with the metadata and the grant of a code', async () => {
      const port = await freePort();
      const args = [
        ...[CONFORMANCE, 'authorization', '--verbose'],
        ...['--url', fixture.server.url],
        ...['--client-id', INSPECTOR.id],
        ...['--resource', fixture.resource],
        ...['--port', String(port)],
      ];
      const tests = spawn(node, args, { stdio: 'pipe' });
      const output = outputOf(tests);
      const ended = once(tests, 'close');
      const address = (): string => /^http\S+\/v1\/oauth\/authorize\S+/m.exec(output())?.[0] ?? '';
      await waitFor(
        () => `the address of the request, after ${output()}`,
        () => address() !== '',
      );
      const visitor = await openAsNewPerson(visit, address());
      await visitor.press('Allow');
      const [status] = (await ended) as [number];
      expect([status, output()]).toEqual([0, expect.stringContaining('Total: 3 passed, 0 failed')]);
    });
  },
);
