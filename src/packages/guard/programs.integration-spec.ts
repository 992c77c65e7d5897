import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Server as SocketServer } from 'socket.io';
import { WebSocket, WebSocketServer } from 'ws';
import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { closeServer, listen } from '../../../test/helpers/local-server.js';
import { accessOf } from './adapters/credentials.js';
import type { Guard } from './guard.js';
import type { Requirement } from './programs.js';
import { signWith } from './testing/test-keys.js';

const METADATA = 'https://backend.test/.well-known/oauth-protected-resource';
const PROGRAM = {
  id: 'https://editor.test/client.json',
  name: 'Editor',
  grant: 'g1',
  scope: 'notes:read',
};

let fixture: GuardFixture;
let guard: Guard;
beforeAll(async () => {
  fixture = await GuardFixture.start();
  guard = await fixture.readyGuard();
});
afterAll(() => fixture.close());

/** A token with these claims in place of those of a program. */
function signed(changed: object): Promise<string> {
  const claims = { ...fixture.issuer.claims({ program: PROGRAM }), ...changed };
  return signWith(fixture.issuer.signingKey, 'at+jwt', claims);
}

const codeOf = (token: string, requirement?: Requirement, by = guard): Promise<string> =>
  by.verify(token, requirement).then(
    () => 'admitted',
    ({ code }: { readonly code: string }) => code,
  );

describe('verify()', () => {
  it('admits a program only by a call that names its scope', async () => {
    const token = await fixture.issuer.token({ account: 'ada', program: PROGRAM });
    expect(await codeOf(token)).toBe('program-refused');
    expect(await codeOf(token, { scope: undefined })).toBe('program-refused');
    expect(await codeOf(token, { scope: 'notes:write' })).toBe('insufficient-scope');
    expect(await guard.verify(`Bearer ${token}`, { scope: 'notes:read' })).toMatchObject({
      account: 'ada',
      program: { id: PROGRAM.id, name: 'Editor', grant: 'g1' },
      scopes: ['notes:read'],
    });
  });

  it('admits a person, whatever scope the call names', async () => {
    const token = await fixture.issuer.token();
    for (const requirement of [undefined, {}, { scope: 'notes:write' }]) {
      expect(await guard.verify(token, requirement)).toMatchObject({ program: null, scopes: [] });
    }
  });

  it('rejects a call whose scope is none, also for a person', async () => {
    for (const token of [await fixture.issuer.token(), await signed({}), 'x', '']) {
      await expect(guard.verify(token, { scope: '' })).rejects.toThrow(TypeError);
    }
  });

  it('refuses a token that describes no program, though its key is genuine', async () => {
    const token = await signed({ grant_id: undefined });
    expect(await codeOf(token)).toBe('invalid-token');
    expect(await codeOf(token, { scope: 'notes:read' })).toBe('invalid-token');
  });

  it('reports the end of a grant before a scope that is missing', async () => {
    const token = await fixture.issuer.token({ sid: 'ended', program: PROGRAM });
    await fixture.issuer.endSession('ended');
    const codes = new Set<string>();
    while (!codes.has('token-revoked')) {
      codes.add(await codeOf(token));
    }
    expect(await codeOf(token, { scope: 'notes:write' })).toBe('token-revoked');
  });

  it('judges the answer of an introspection in the same way', async () => {
    const by = fixture.guard({ introspection: { cacheSeconds: 10 } });
    const token = await fixture.issuer.token({ program: PROGRAM });
    expect(await codeOf(token, undefined, by)).toBe('program-refused');
    expect(await codeOf(token, { scope: 'notes:write' }, by)).toBe('insufficient-scope');
    expect(await codeOf(token, { scope: 'notes:read' }, by)).toBe('admitted');
    expect(await codeOf(await signed({ client_id: 'gatehouse' }), undefined, by)).toBe(
      'invalid-token',
    );
  });

  it('logs why a program is refused', async () => {
    const own = await GuardFixture.start();
    try {
      const by = await own.readyGuard();
      const token = await own.issuer.token({ program: PROGRAM });
      await codeOf(token, undefined, by);
      await codeOf(token, { scope: 'notes:write' }, by);
      expect(own.logged.map(({ reason }) => reason).filter(Boolean)).toEqual([
        'it is of a program, and the call names no scope',
        'its scopes are not those of the call',
      ]);
    } finally {
      await own.close();
    }
  });
});

describe('the scope of the first request', () => {
  it('is in the metadata and in each challenge of 401', async () => {
    const by = fixture.guard({ initialScope: 'notes:read notes:list' });
    await by.ready();
    expect(by.metadata).toEqual({
      resource: 'https://backend.test',
      authorization_servers: [fixture.issuer.guardOptions.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['notes:read', 'notes:list'],
    });
    const challengeOf = (token: string): Promise<string> =>
      by.verify(token, { scope: 'notes:write' }).then(
        () => 'admitted',
        ({ wwwAuthenticate }: { readonly wwwAuthenticate: string }) => wwwAuthenticate,
      );
    const initial = `scope="notes:read notes:list", resource_metadata="${METADATA}"`;
    expect(await challengeOf('')).toBe(`Bearer ${initial}`);
    expect(await challengeOf('x')).toContain(`, ${initial}`);
    expect(await challengeOf(await fixture.issuer.token({ program: PROGRAM }))).toContain(
      `, scope="notes:write notes:read", resource_metadata="${METADATA}"`,
    );
  });
});

describe('upgrade()', () => {
  let server: Server;
  let url: string;
  let accounts: unknown[];
  const start = async (requirement?: Requirement): Promise<void> => {
    server = createServer();
    accounts = [];
    guard.upgrade(server, requirement);
    new WebSocketServer({ server }).on('connection', (_socket, request) =>
      accounts.push(accessOf(request)?.account),
    );
    url = `ws://127.0.0.1:${await listen(server)}`;
  };
  afterEach(() => closeServer(server));

  const statusOf = async (token: string): Promise<number | undefined> => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
    socket.on('error', () => undefined);
    const status = await Promise.race([
      once(socket, 'open').then(() => 101),
      once(socket, 'unexpected-response').then(
        ([, answer]) => (answer as IncomingMessage).statusCode,
      ),
    ]);
    socket.terminate();
    return status;
  };

  it.each([
    [undefined, 403],
    ['notes:write', 403],
    ['notes:read', 101],
  ])('refuses programs unless it names their scope (%j)', async (scope, status) => {
    await start({ scope });
    const token = await fixture.issuer.token({ account: 'ada', program: PROGRAM });
    expect(await statusOf(token)).toBe(status);
    expect(await statusOf(await fixture.issuer.token({ account: 'eve' }))).toBe(101);
    expect(accounts).toEqual(status === 101 ? ['ada', 'eve'] : ['eve']);
  });

  it('refuses a requirement that names no scope', async () => {
    await start();
    expect(() => guard.upgrade(createServer(), { scope: '' })).toThrow(TypeError);
  });
});

describe('long polling of Socket.IO', () => {
  let server: Server;
  let sockets: SocketServer;
  let url: string;
  const start = async (requirement?: Requirement): Promise<void> => {
    server = createServer();
    guard.upgrade(server, requirement);
    sockets = new SocketServer(server);
    url = `http://127.0.0.1:${await listen(server)}/socket.io/?EIO=4&transport=polling`;
  };
  afterEach(() => sockets.close());

  const poll = async (token: string, sid?: string): Promise<{ status: number; sid?: string }> => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(sid === undefined ? url : `${url}&sid=${sid}`, {
      headers,
      ...(sid !== undefined && { method: 'POST', body: '40' }),
    });
    const text = await answer.text();
    const [, id] = /"sid":"([^"]+)"/.exec(text) ?? [];
    return { status: answer.status, ...(id !== undefined && { sid: id }) };
  };

  it('is refused to programs unless upgrade() names their scope', async () => {
    await start();
    const token = await fixture.issuer.token({ program: PROGRAM });
    expect((await poll(token)).status).toBe(403);
    expect((await poll(await fixture.issuer.token())).status).toBe(200);
  });

  it('refuses a token with fewer scopes than the one of the handshake', async () => {
    await start({ scope: 'notes:read' });
    const tokenWith = (scope: string): Promise<string> =>
      fixture.issuer.token({ account: 'ada', sid: 's1', program: { ...PROGRAM, scope } });
    const { sid = '' } = await poll(await tokenWith('notes:read notes:write'));
    expect((await poll(await tokenWith('notes:read'), sid)).status).toBe(401);
    expect((await poll(await tokenWith('notes:write'), sid)).status).toBe(403);
    expect((await poll(await tokenWith('notes:write notes:read'), sid)).status).toBe(200);
  });
});
