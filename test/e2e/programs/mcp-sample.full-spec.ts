import { NotesFixture } from '../../fixtures/mcp/notes-fixture.js';
import { exchangeForm, postForm } from '../../fixtures/resource-server-fixture.js';
import { programsOf, programTokens } from '../../fixtures/programs-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey } from '../../helpers/client.js';

const fixture = await NotesFixture.start();
const { server, resource } = fixture;
afterAll(() => fixture.close());

const METADATA = {
  resource,
  authorization_servers: [server.url],
  bearer_methods_supported: ['header'],
  scopes_supported: ['notes:read'],
};

const person = () => tokenOf(server, makeDeviceKey());

/** The tokens of a program that the person allowed at the notes. */
async function programAt(token: string, scopes: readonly string[]): Promise<string> {
  const request = { resource, scope: scopes.join(' ') };
  const approval = { scopes: [...scopes] };
  return (await programTokens(server, token, { request, approval })).access;
}

const headersOf = (token: string) => ({
  authorization: `Bearer ${token}`,
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
});

/** Sends a body of JSON-RPC as it is. */
const post = (token: string, body: unknown): Promise<Response> =>
  fetch(resource, { method: 'POST', headers: headersOf(token), body: JSON.stringify(body) });

const toolCall = (name: string, input: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: input },
});

const use = async (token: string, name: string, input?: object): Promise<string> =>
  (await post(token, toolCall(name, input))).text();

describe('docs/samples/mcp', () => {
  it.each(['GET', 'POST', 'DELETE'])(
    'refuses %s without a token, and says where to get one',
    async (method) => {
      const answer = await fetch(resource, { method });
      const address = new URL('/.well-known/oauth-protected-resource/mcp', resource).href;
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer scope="notes:read", resource_metadata="${address}"`,
      ]);
      for (const one of [address, address.replace(/\/mcp$/, '')]) {
        expect(await (await fetch(one)).json()).toEqual(METADATA);
      }
    },
  );

  it('lets a program read, and write only with the scope of that tool', async () => {
    const token = await person();
    const [reader, writer] = [
      await programAt(token, ['notes:read']),
      await programAt(token, ['notes:read', 'notes:write']),
    ];
    expect(await use(writer, 'write_note', { text: 'buy milk' })).toContain('Added.');
    expect(await use(reader, 'read_notes')).toContain('buy milk');
    expect(await use(await programAt(await person(), ['notes:read']), 'read_notes')).not.toContain(
      'buy milk',
    );

    const write = toolCall('write_note', { text: 'sell milk' });
    for (const body of [write, [write], [toolCall('read_notes'), write]]) {
      const refused = await post(reader, body);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        403,
        expect.stringContaining('error="insufficient_scope"'),
      ]);
      expect(refused.headers.get('www-authenticate')).toContain('scope="notes:read notes:write"');
    }
    // The SDK of MCP takes these types for JSON, and Express does not.
    for (const type of ['application/json\u00a0;', 'application/json\u00a0; charset=utf-8']) {
      const headers = { ...headersOf(reader), 'content-type': type };
      const request = { method: 'POST', headers, body: JSON.stringify(write) };
      expect([type, (await fetch(resource, request)).status]).toEqual([type, 403]);
    }
    expect(await use(reader, 'read_notes')).not.toContain('sell milk');
  });

  it('lets the person use each tool without a program', async () => {
    const form = { ...exchangeForm(await person(), 'notes'), resource };
    const { body } = await postForm(server, '/v1/oauth/token', form);
    expect(await use(String(body['access_token']), 'write_note', { text: 'mine' })).toContain(
      'Added.',
    );
  });

  it('reports changes on an open stream, which ends with the access of the program', async () => {
    const token = await person();
    const program = await programAt(token, ['notes:read', 'notes:write']);
    const stream = await fetch(resource, {
      headers: { authorization: `Bearer ${program}`, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(200);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    await use(program, 'write_note', { text: 'buy milk' });
    expect((await reader?.read())?.value).toContain('Notes changed.');

    const [grant] = await programsOf(server, token);
    await call(server, 'DELETE', `/v1/account/programs/${grant?.id}`, { token });
    await expect(reader?.read()).rejects.toThrow('terminated');
    expect((await post(program, toolCall('read_notes'))).status).toBe(401);
  });

  it('answers a body that is no JSON-RPC, and an unknown tool', async () => {
    const program = await programAt(await person(), ['notes:read']);
    for (const body of [{}, 'text', [null], { method: 'tools/call' }]) {
      expect((await post(program, body)).status).toBe(400);
    }
    expect(await use(program, 'toString')).toContain('"isError":true');
    expect(await use(program, 'read_notes')).toContain('"result"');
  });
});
