import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Guard } from '../../src/packages/guard/guard.js';
import type { Requirement } from '../../src/packages/guard/programs.js';
import { GuardFixture } from '../fixtures/guard-fixture.js';
import { answerTo, closeServer } from '../helpers/local-server.js';
import { waitFor } from '../helpers/wait.js';

/** The guard of an application, and the number of connections that it held in each call of `/whoami`. */
export interface GuardedApp {
  readonly guard: Guard;
  readonly held: number[];
  /** The requirement of the adapter; null = only `/write` is guarded. */
  readonly requirement: Requirement | null;
}

/**
 * Starts an application on a free port: `/whoami` answers the account, `/write` does so for programs with `notes:write` (the
 * guard of this route follows the adapter), `/stream` never ends, and {@link breakRequest} sees each request first.
 */
export type StartGuarded = (app: GuardedApp) => Promise<Server>;

const ROOT_METADATA = '/.well-known/oauth-protected-resource';
const METADATA = `${ROOT_METADATA}/relay`;

/** Breaks requests of `/fault`, as a mistake in the application may. */
export function breakRequest(incoming: IncomingMessage): void {
  if (incoming.url === '/fault') {
    Object.defineProperty(incoming, 'headers', { value: undefined });
  }
}

const authorized = (token: string): { headers: Record<string, string> } => {
  return { headers: { authorization: `Bearer ${token}` } };
};

/** The suite of the adapter of a framework. */
export function describeGuardAdapter(name: string, start: StartGuarded): void {
  let fixture: GuardFixture;
  let guard: Guard;
  let server: Server | undefined;
  let held: number[];

  const setUp = async (): Promise<void> => {
    fixture = await GuardFixture.start({ resource: 'https://backend.test/relay' });
    guard = await fixture.readyGuard();
    held = [];
  };
  const tearDown = async (): Promise<void> => {
    await (server && closeServer(server));
    server = undefined;
    await fixture.close();
  };
  const startApp = async (requirement: Requirement | null = {}): Promise<string> => {
    server = await start({ guard, held, requirement });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  describe(`${name.toLowerCase()}()`, () => {
    beforeEach(setUp);
    afterEach(tearDown);

    it.each([
      ['no token', {}, 401, 'missing-token'],
      ['another scheme', { headers: { authorization: 'Basic eDp5' } }, 401, 'missing-token'],
      ['an invalid token', authorized('x'), 401, 'invalid-token'],
    ])('refuses %s with a challenge', async (_what, init, status, code) => {
      const answer = await fetch(`${await startApp()}/whoami`, init);
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ statusCode: status, code });
      const challenge = answer.headers.get('www-authenticate') ?? '';
      expect(challenge.startsWith('Bearer ')).toBe(true);
      expect(challenge).toContain(`resource_metadata="https://backend.test${METADATA}"`);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    });

    it('refuses a repeated Authorization header', async () => {
      const token = await fixture.issuer.token();
      const { port } = new URL(await startApp());
      const socket = connect(Number(port), '127.0.0.1');
      const header = `authorization: Bearer ${token}\r\n`;
      socket.write(
        `GET /whoami HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}authorization: Basic eDp5\r\n\r\n`,
      );
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer.toString()).toContain('invalid_request');
      socket.destroy();
    });

    it('holds nothing for a client that disconnected during the check', async () => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      let isAsked = false;
      guard = await fixture.readyGuard(
        {
          fetch: async (url, init) => {
            if (String(url).endsWith('/jwks') && !isAsked) {
              isAsked = true;
              await released;
            }
            return fetch(url, init);
          },
        },
        2,
      );
      const token = await fixture.issuer.token();
      const sent = request(`${await startApp()}/whoami`, authorized(token));
      sent.on('error', () => undefined).end();
      await waitFor('the keys are read', () => isAsked);
      const connections = (): Promise<number> =>
        new Promise((done) => server?.getConnections((_error, count) => done(count)));
      sent.destroy();
      await waitFor('the server notices it', async () => (await connections()) === 0);
      release();
      await guard.verify(token);
      await nextTurn();
      expect(guard.heldCount).toBe(0);
    });

    it('answers 503 after the lease', async () => {
      const url = await startApp();
      fixture.clock.monotonicOffsetMs = 30_000;
      const answer = await fetch(`${url}/whoami`, authorized(await fixture.issuer.token()));
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
      expect(answer.headers.has('www-authenticate')).toBe(false);
    });

    it('ends an open response when its session ends, and no other', async () => {
      const url = await startApp();
      const open = async (sid: string) => {
        const sent = request(`${url}/stream`, authorized(await fixture.issuer.token({ sid })));
        sent.end();
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        answer.on('error', () => undefined).resume();
        return answer;
      };
      const [leaver, other] = await Promise.all([open('leaver'), open('other')]);
      await fixture.issuer.endSession('leaver');
      await waitFor('the response ends', () => leaver.closed);
      expect(leaver.complete).toBe(false);
      expect(other.closed).toBe(false);
      other.destroy();
    });
  });

  describe(`the guard of ${name}`, () => {
    let url: string;
    beforeEach(async () => {
      await setUp();
      url = await startApp();
    });
    afterEach(tearDown);

    async function ask(
      path: string,
      token: string | null,
      method = 'GET',
    ): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      const sent = request(`${url}${path}`, { method, headers, agent: false });
      const { status, text, answer } = await answerTo(sent);
      return { status, text, headers: answer.headers };
    }

    it('holds a request until its answer is sent', async () => {
      const token = await fixture.issuer.token({ account: 'ada' });
      expect(await ask('/whoami', token)).toMatchObject({ status: 200, text: '{"account":"ada"}' });
      expect(held).toEqual([1]);
      await waitFor('the release', () => guard.heldCount === 0);
    });

    it('answers a refusal as JSON that no cache keeps', async () => {
      const { status, text, headers } = await ask('/whoami', 'x');
      const refusal = guard.refusal('invalid-token');
      expect([status, JSON.parse(text)]).toEqual([401, refusal.body]);
      expect(headers['content-type']).toContain('application/json');
      expect(headers).toMatchObject({
        ...{ 'cache-control': 'no-store', 'www-authenticate': refusal.wwwAuthenticate },
      });
      expect(held).toEqual([]);
    });

    it('leaves an error that is no refusal to the application', async () => {
      const { status, text } = await ask('/fault', null);
      expect(status).toBe(500);
      expect(text).toContain('authorization');
    });

    it.each([METADATA, `${METADATA}?x=1`, ROOT_METADATA])(
      'serves %s without a token',
      async (path) => {
        const { status, text, headers } = await ask(path, null);
        expect([status, JSON.parse(text)]).toEqual([200, guard.metadata]);
        expect(headers['content-type']).toContain('application/json');
        expect(headers).toMatchObject({
          ...{ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' },
        });
        expect(guard.heldCount).toBe(0);
      },
    );

    it('serves the headers of the metadata without a token', async () => {
      expect(await ask(METADATA, null, 'HEAD')).toMatchObject({ status: 200, text: '' });
    });

    it.each<readonly [string, string]>([
      [METADATA, 'POST'],
      [`${ROOT_METADATA}/other`, 'GET'],
      [`${ROOT_METADATA}/`, 'GET'],
      [`/x${METADATA}`, 'GET'],
      ...['HEAD', 'PUT', 'PATCH', 'DELETE'].map((method) => ['/whoami', method] as const),
      [`/x?${METADATA}`, 'GET'],
      ['/none', 'GET'],
    ])('requires a token for %s with %s', async (path, method) => {
      expect(await ask(path, null, method)).toMatchObject({ status: 401 });
    });

    it('lets scripts of other origins read the metadata', async () => {
      const { status, headers } = await ask(METADATA, null, 'OPTIONS');
      expect([status, headers]).toMatchObject([
        204,
        { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' },
      ]);
    });

    it('answers OPTIONS without a token itself, and allows no origin', async () => {
      const { status, text, headers } = await ask('/whoami', null, 'OPTIONS');
      expect([status, text]).toEqual([204, '']);
      expect(Object.keys(headers).join()).not.toContain('access-control');
      expect((await ask('/whoami', 'x', 'OPTIONS')).status).toBe(401);
      expect(held).toEqual([]);
    });
  });

  describe(`programs at ${name}`, () => {
    beforeEach(setUp);
    afterEach(tearDown);

    /** Statuses and codes of requests for `/whoami` and `/write`. */
    async function outcomes(requirement: Requirement, scope: string | null): Promise<unknown[]> {
      const url = await startApp(requirement);
      const program = scope === null ? undefined : { id: 'https://editor.test/client', scope };
      const token = await fixture.issuer.token({ account: 'ada', program });
      const answers = ['/whoami', '/write'].map(async (path) => {
        const answer = await fetch(`${url}${path}`, authorized(token));
        const { account, code } = (await answer.json()) as { account?: string; code?: string };
        return [answer.status, account ?? code];
      });
      return Promise.all(answers);
    }

    const ADMITTED = [200, 'ada'];
    const REFUSED = [403, 'program-refused'];
    const NARROW = [403, 'insufficient-scope'];
    it.each<readonly [string | undefined, string | null, readonly unknown[]]>([
      [undefined, null, [ADMITTED, ADMITTED]],
      [undefined, 'notes:read notes:write', [REFUSED, REFUSED]],
      ['notes:read', null, [ADMITTED, ADMITTED]],
      ['notes:read', 'notes:read', [ADMITTED, NARROW]],
      ['notes:read', 'notes:write notes:read', [ADMITTED, ADMITTED]],
      ['notes:read', 'notes:readx', [NARROW, NARROW]],
      ['notes:read', 'NOTES:READ', [NARROW, NARROW]],
      ['notes:read', 'notes', [NARROW, NARROW]],
      ['notes:read notes:list', 'notes:read notes:write', [NARROW, NARROW]],
    ])('judges by the scope %j a token with %j', async (scope, own, expected) => {
      expect(await outcomes({ scope }, own)).toEqual(expected);
    });

    it('guards a route by itself, as where no other guard stands before it', async () => {
      const url = await startApp(null);
      const token = await fixture.issuer.token({ program: { id: 'editor', scope: 'notes:read' } });
      const answer = await fetch(`${url}/write`, authorized(token));
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        403,
        'Bearer error="insufficient_scope", error_description="The program needs another scope for this.", ' +
          `scope="notes:write notes:read", resource_metadata="https://backend.test${METADATA}"`,
      ]);
      const own = await fixture.issuer.token({ account: 'ada' });
      const admitted = await fetch(`${url}/write`, authorized(own));
      expect([admitted.status, await admitted.json()]).toEqual([200, { account: 'ada' }]);
      expect((await fetch(`${url}/write`)).status).toBe(401);
    });

    it('refuses a requirement that names no scope', () => {
      for (const scope of ['', ' ', 'a  b', null, ['notes:read']]) {
        expect(() => guard.requireScope(scope as string)).toThrow(TypeError);
        expect(() => guard.express({ scope } as Requirement)).toThrow(TypeError);
        expect(() => guard.fastify({ scope } as Requirement)).toThrow(TypeError);
      }
      expect(() => guard.requireScope(undefined as never)).toThrow(TypeError);
    });
  });
}
