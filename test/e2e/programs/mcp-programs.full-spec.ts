import { readFileSync } from 'node:fs';
import { decodeJwt } from 'jose';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { challengeOf, newVerifier, PROGRAMS } from '../../fixtures/programs-fixture.js';
import { backends, resourceOf } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, type Answer, type Json } from '../../helpers/client.js';
import { HttpProxy } from '../../helpers/http-proxy.js';
import { startLocalServer, type LocalServer } from '../../helpers/local-server.js';

interface McpProgram {
  readonly program: string;
  readonly clientId: string;
  /** Its metadata document, but for its id. */
  readonly document: Json;
  readonly redirectUri: string;
  readonly resource: string;
  /** Encoded; null = none is sent. */
  readonly scope: string | null;
  readonly granted: readonly string[];
  /** True if it revokes both of its tokens before it signs in again. */
  readonly revokes?: boolean;
}

/** Requests that a program sent to a stand-in. */
interface Recording {
  readonly program: string;
  /** The day. */
  readonly recorded: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly authorize: string;
  readonly token: string;
  /** null = none was sent. */
  readonly refresh: string | null;
  readonly revoke: readonly string[];
}

const vectorsOf = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), 'utf8'));

const { probes, programs } = vectorsOf('mcp-programs.json') as {
  readonly probes: readonly { of: string; request: string; status: number }[];
  readonly programs: readonly McpProgram[];
};
const { programs: recordings } = vectorsOf('mcp-recordings.json') as {
  readonly programs: readonly Recording[];
};
const HOSTS = [...new Set(programs.map(({ clientId }) => new URL(clientId).hostname))];
const STATE = 'c3RhdGU';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('programs that speak MCP, by their requests', () => {
  const directory = certificateDirectory();
  const authority = TestAuthority.root(directory, 'Corp');
  const setup = backends([{ id: 'notes', programs: PROGRAMS }]);
  let documents: LocalServer;
  let proxy: HttpProxy;
  let server: Server;

  beforeAll(async () => {
    const names = HOSTS.map((host) => `DNS:${host}`);
    documents = await startLocalServer(
      ({ url, headers }) => {
        const id = `https://${headers['host'] ?? ''}${url.pathname}`;
        const found = programs.find(({ clientId }) => clientId === id);
        return found === undefined
          ? 'not-found'
          : { status: 200, json: { client_id: id, ...found.document } };
      },
      {
        ...authority.issue({ names: ['DNS:localhost', ...names], usage: 'serverAuth' }),
        name: 'localhost',
      },
    );
    const place = `127.0.0.1:${new URL(documents.url).port}`;
    proxy = await HttpProxy.start({
      hosts: Object.fromEntries(HOSTS.map((host) => [host, place])),
    });
    server = await startServer({
      env: { ...setup.env, HTTPS_PROXY: proxy.url, SERVICE_CA_BUNDLE: authority.certPath },
    });
  });
  afterAll(async () => {
    await server.stop();
    await Promise.all([proxy.close(), documents.close()]);
  });

  const post = (path: string, ...fields: readonly string[]): Promise<Answer> =>
    call(server, 'POST', path, { body: fields.join('&'), headers: FORM });

  it.each(probes)('answers $request with $status ($of)', async ({ request, status }) => {
    const [method = '', path = ''] = request.split(' ');
    expect((await call(server, method, path)).status).toBe(status);
  });

  it.each(programs)('signs a person in for $program, and refreshes', async (program) => {
    const redirectUri = program.redirectUri.replace('{port}', '49160');
    const [id, redirect, resource] = [program.clientId, redirectUri, program.resource].map(
      encodeURIComponent,
    );
    const verifier = newVerifier();
    const target = [
      `/v1/oauth/authorize?response_type=code&client_id=${id}&redirect_uri=${redirect}`,
      `code_challenge=${challengeOf(verifier)}&code_challenge_method=S256&state=${STATE}`,
      ...(program.scope === null ? [] : [`scope=${program.scope}`]),
      `resource=${resource}`,
    ].join('&');
    const { headers } = await call(server, 'GET', target);
    const [, request = ''] = String(headers['location']).split('/app/authorize#');
    const token = await tokenOf(server, makeDeviceKey());
    const shown = await call(server, 'GET', `/v1/oauth/requests/${request}`, { token });
    expect(shown.body).toMatchObject({
      client: { id: program.clientId, name: program.document['client_name'] },
      redirectUri,
      scopes: program.granted.map((scope) => ({ id: scope })),
    });

    const { body } = await call(server, 'POST', `/v1/oauth/requests/${request}`, {
      token,
      body: { clientId: program.clientId, redirectUri, scopes: program.granted },
    });
    const answer = new URL(String(body['redirectTo']));
    expect(answer.href.startsWith(redirectUri)).toBe(true);
    const { code = '', ...others } = Object.fromEntries(answer.searchParams);
    expect(others).toEqual({ state: STATE, iss: 'https://gate.example.com' });

    const redeemed = await post(
      '/v1/oauth/token',
      `grant_type=authorization_code&code=${code}&code_verifier=${verifier}`,
      `redirect_uri=${redirect}&client_id=${id}&resource=${resource}`,
    );
    expect(redeemed.body).toMatchObject({
      token_type: 'Bearer',
      scope: program.granted.join(' '),
      expires_in: 900,
    });
    expect(decodeJwt(String(redeemed.body['access_token']))).toMatchObject({
      aud: resourceOf('notes'),
      client_id: program.clientId,
    });

    const refreshToken = String(redeemed.body['refresh_token']);
    const refresh = () =>
      post(
        '/v1/oauth/token',
        `grant_type=refresh_token&refresh_token=${refreshToken}&client_id=${id}`,
        `resource=${resource}`,
      );
    expect((await refresh()).body).toMatchObject({ scope: program.granted.join(' ') });
    if (program.revokes === true) {
      const access = await post(
        '/v1/oauth/revoke',
        `token=${String(redeemed.body['access_token'])}&token_type_hint=access_token&client_id=${id}`,
      );
      expect([access.status, access.body['error']]).toEqual([400, 'unsupported_token_type']);
      const revoked = await post(
        '/v1/oauth/revoke',
        `token=${refreshToken}&token_type_hint=refresh_token&client_id=${id}`,
      );
      expect(revoked.status).toBe(200);
      expect((await refresh()).body['error']).toBe('invalid_grant');
    }
  });

  it.each(recordings)('answers what $program sent on $recorded', async (recording) => {
    const { clientId, redirectUri } = recording;
    const verifier = newVerifier();
    const parts: Record<string, string> = {
      ...{ challenge: challengeOf(verifier), verifier },
      resource: encodeURIComponent(`${resourceOf('notes')}/`),
    };
    const filled = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (_all, name: string) => parts[name] ?? '');
    const token = await tokenOf(server, makeDeviceKey());
    const { headers } = await call(server, 'GET', filled(recording.authorize));
    const [, request = ''] = String(headers['location']).split('/app/authorize#');
    const { body, status } = await call(server, 'POST', `/v1/oauth/requests/${request}`, {
      token,
      body: { clientId, redirectUri, scopes: ['notes:read'] },
    });
    expect(status).toBe(200);
    const answer = new URL(String(body['redirectTo']));
    const asked = new URL(recording.authorize, 'https://gate.example.com').searchParams;
    expect(answer.href.startsWith(redirectUri)).toBe(true);
    expect(answer.searchParams.get('state')).toBe(asked.get('state'));
    parts['code'] = answer.searchParams.get('code') ?? '';

    const redeemed = await post('/v1/oauth/token', filled(recording.token));
    expect(redeemed.body).toMatchObject({ token_type: 'Bearer', scope: 'notes:read' });
    parts['access'] = String(redeemed.body['access_token']);
    parts['refresh'] = String(redeemed.body['refresh_token']);
    if (recording.refresh !== null) {
      const refreshed = await post('/v1/oauth/token', filled(recording.refresh));
      expect(refreshed.body).toMatchObject({ token_type: 'Bearer', scope: 'notes:read' });
    }
    for (const form of recording.revoke) {
      const { status: revoked } = await post('/v1/oauth/revoke', filled(form));
      expect(revoked).toBe(form.includes('access_token') ? 400 : 200);
    }
    if (recording.refresh !== null && recording.revoke.length > 0) {
      const refused = await post('/v1/oauth/token', filled(recording.refresh));
      expect(refused.body['error']).toBe('invalid_grant');
    }
  });

  it('lets a program in a browser read the metadata and ask for tokens', async () => {
    const origin = 'http://localhost:6274';
    for (const path of ['/.well-known/oauth-authorization-server', '/v1/oauth/token']) {
      const { status, headers } = await call(server, 'OPTIONS', path, {
        headers: {
          origin,
          'access-control-request-method': path.startsWith('/v1') ? 'POST' : 'GET',
          'access-control-request-headers': 'mcp-protocol-version',
        },
      });
      expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
      expect(String(headers['access-control-allow-headers']).toLowerCase()).toContain(
        'mcp-protocol-version',
      );
    }
  });
});
