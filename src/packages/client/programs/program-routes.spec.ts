import type { Fetch } from '../api/api-client-transport.js';
import { placeOf, publisherOf } from './program-host.js';
import { ProgramRoutes } from './program-routes.js';

const GRANT = {
  id: '3f1c2a44-8f0e-4c53-9d1e-0a6b6f3f2b11',
  client: { id: 'gatehouse-file', name: 'backup' },
  redirectUri: null,
  resource: { id: 'notes', name: 'Notes' },
  scopes: [{ id: 'notes:read', text: 'Read your notes', requires: [] }],
  kind: 'file',
  method: 'key_challenge',
  createdAt: 1,
  lastUsedAt: 2,
  lastAddress: null,
  expiresAt: 3,
};

/** Routes of a server that answers this, and what they sent. */
function routesTo(answer: object, status = 200) {
  const sent: { url: string; init: Parameters<Fetch>[1] }[] = [];
  const fetch: Fetch = (url, init) => {
    sent.push({ url, init });
    return Promise.resolve({
      status,
      ok: status === 200,
      type: 'basic',
      headers: { get: () => null },
      text: () => Promise.resolve(JSON.stringify(answer)),
    });
  };
  const serverUrl = 'https://gate.example.com';
  return { sent, routes: new ProgramRoutes({ serverUrl, token: 'of-the-session', fetch }) };
}

describe(ProgramRoutes.name, () => {
  it('gets a token as a public client, without the session', async () => {
    const { routes, sent } = routesTo({
      ...{ access_token: 'a', expires_in: 900, scope: 'notes:read notes:write' },
      refresh_token: 'second',
    });
    const file = { clientId: 'gatehouse-file', refreshToken: 'first' };
    expect(await routes.token(file)).toEqual({
      accessToken: 'a',
      expiresInSeconds: 900,
      scopes: ['notes:read', 'notes:write'],
      refreshToken: 'second',
    });
    expect(sent).toMatchObject([
      {
        url: 'https://gate.example.com/v1/oauth/token',
        init: {
          method: 'POST',
          body: 'grant_type=refresh_token&client_id=gatehouse-file&refresh_token=first',
        },
      },
    ]);
    expect(sent[0]?.init.headers).not.toHaveProperty('authorization');
  });

  it('rejects with the code of a token that has ended', async () => {
    const body = { statusCode: 400, code: 'invalid-grant', error: 'invalid_grant', message: 'no' };
    const { routes } = routesTo(body, 400);
    await expect(routes.token({ clientId: 'a', refreshToken: 'b' })).rejects.toMatchObject({
      code: 'invalid-grant',
      isTemporary: false,
    });
  });

  it('lists programs, and sends only the options that are given', async () => {
    const { routes } = routesTo({ programs: [GRANT] });
    expect(await routes.list()).toEqual([GRANT]);
    const { routes: adding, sent } = routesTo({ ...GRANT, clientId: 'c', refreshToken: 'r' });
    await adding.add({ name: 'backup', resource: 'notes' });
    expect(sent[0]?.init.body).toBe('{"name":"backup","resource":"notes"}');
  });

  it.each([
    [{ programs: [{ ...GRANT, client: 'backup' }] }],
    [{ programs: [{ ...GRANT, scopes: ['notes:read'] }] }],
    [{ programs: [{ ...GRANT, lastUsedAt: 'today' }] }],
    [{ programs: GRANT }],
    [[]],
  ])('refuses a list of another form: %j', async (answer) => {
    const { routes } = routesTo(answer);
    await expect(routes.list()).rejects.toMatchObject({ code: 'unexpected-answer' });
  });

  it.each(['..', '.', '', '../sessions/1', 'x?y'])(
    'sends no id that could select another route: %j',
    async (id) => {
      const { routes, sent } = routesTo({ success: true });
      await expect(routes.end(id)).rejects.toThrow(TypeError);
      expect(sent).toEqual([]);
    },
  );

  it('ends a program by its id', async () => {
    const { routes, sent } = routesTo({ success: true });
    await routes.end(GRANT.id);
    expect(sent).toMatchObject([
      {
        url: `https://gate.example.com/v1/account/programs/${GRANT.id}`,
        init: { method: 'DELETE' },
      },
    ]);
  });
});

describe('the place of a program', () => {
  it.each([
    ['https://agent.example:8443/done', { kind: 'host', host: 'agent.example:8443' }],
    ['http://127.0.0.1:33418/callback', { kind: 'computer' }],
    ['cursor://mcp/callback', { kind: 'app', scheme: 'cursor' }],
  ])('is read from %s', (address, place) => {
    expect(placeOf(address)).toEqual(place);
  });

  it('is the host of its metadata document', () => {
    expect(publisherOf('https://claude.ai/oauth/client')).toBe('claude.ai');
    expect(publisherOf('inspector')).toBeNull();
  });
});
