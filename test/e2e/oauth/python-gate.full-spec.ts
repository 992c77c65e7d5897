import { setTimeout as sleep } from 'node:timers/promises';
import { Clock } from '../../../src/common/runtime/clock.js';
import { startTestIssuer, type TestIssuer } from '../../../src/packages/guard/testing.js';
import { signWith } from '../../../src/packages/guard/testing/test-keys.js';
import { OwnClock } from '../../fixtures/guard-fixture.js';
import { PythonBackend } from '../../fixtures/programs/python-backend-fixture.js';
import { without } from '../../fixtures/resource-server-fixture.js';
import { startLocalServer, type LocalServer } from '../../helpers/local-server.js';
import { waitFor } from '../../helpers/wait.js';

const TOKEN_PATH = '/v1/oauth/token';

describe('docs/samples/backend-python/gate.py', () => {
  const clock = new OwnClock(new Clock());
  let issuer: TestIssuer;
  let backend: PythonBackend;

  beforeEach(async () => {
    clock.wallOffsetMs = 0;
    issuer = await startTestIssuer({}, { clock });
  });
  afterEach(async () => {
    backend.stop();
    await issuer.close();
  });

  async function start(url = issuer.url, leaseSeconds?: number): Promise<void> {
    const { resource, client } = issuer.guardOptions;
    const { id, secret } = client as { readonly id: string; readonly secret: string };
    backend = await PythonBackend.start([url, resource, id], secret, leaseSeconds);
  }

  /** Before each further attempt after a failure, the gate renews its token. */
  async function fails(times = 2): Promise<void> {
    const target = issuer.requestsTo(TOKEN_PATH) + times;
    await waitFor('attempts fail', () => issuer.requestsTo(TOKEN_PATH) >= target);
  }

  it('refuses tokens without a claim, of another type or key, and those that expired', async () => {
    await start();
    await backend.ready();
    const { signingKey, signalSigningKey } = issuer;
    const claims = issuer.claims();
    expect(await backend.statusOf(await signWith(signingKey, 'at+jwt', claims))).toBe(200);
    const refused = [
      signWith(signingKey, 'secevent+jwt', claims),
      signWith(signingKey, 'JWT', claims),
      signWith(signalSigningKey, 'at+jwt', claims),
      signWith({ ...signingKey, kid: 'other' }, 'at+jwt', claims),
      ...['exp', 'iat', 'sub', 'sid', 'client_id', 'session_exp', 'iss', 'aud'].map((name) =>
        signWith(signingKey, 'at+jwt', without(claims, name)),
      ),
      ...[{ iss: 'https://other.test' }, { aud: 'https://other.test' }].map((other) =>
        signWith(signingKey, 'at+jwt', { ...claims, ...other }),
      ),
      issuer.token({ program: { id: 'editor', scope: 'notes:read' } }),
      issuer.token({ tokenSeconds: -1 }),
      issuer.token({ sessionSeconds: -1 }),
    ];
    for (const token of await Promise.all(refused)) {
      expect([token, await backend.statusOf(token)]).toEqual([token, 401]);
    }
  });

  it('admits a new token where the clocks differ a little', async () => {
    clock.wallOffsetMs = 20_000;
    await start();
    await backend.ready();
    expect(await backend.statusOf(await issuer.token())).toBe(200);
    await issuer.endSession('ended');
    const token = await issuer.token({ sid: 'ended' });
    await waitFor('it is refused', async () => (await backend.statusOf(token)) === 401);
  });

  it.each([-120_000, 120_000])('admits no token while the clocks differ by %d ms', async (ms) => {
    clock.wallOffsetMs = ms;
    await start();
    await fails();
    expect(await backend.statusOf(await issuer.token())).toBe(503);
    clock.wallOffsetMs = 0;
    await backend.ready();
  });

  it('ends open responses and admits no token after its lease, until a poll succeeds', async () => {
    await start(issuer.url, 3);
    const token = await issuer.token();
    await waitFor('it is admitted', async () => (await backend.statusOf(token)) === 200);
    const events = await backend.openEvents(token);
    issuer.isAvailable = false;
    await waitFor('the open response ends', () => events.isOver);
    expect(await backend.statusOf(token)).toBe(503);
    issuer.isAvailable = true;
    await waitFor('it is admitted', async () => (await backend.statusOf(token)) === 200);
  });

  it('ends open responses with their session, and not with their token', async () => {
    await start();
    await backend.ready();
    const [short, long] = [{ tokenSeconds: 2 }, { tokenSeconds: 2, sessionSeconds: 4 }];
    const [stays, ends] = await Promise.all(
      [short, long].map(async (session) => backend.openEvents(await issuer.token(session))),
    );
    await waitFor('one response ends', () => ends?.isOver === true);
    expect(stays?.isOver).toBe(false);
  });

  it('ends open responses when its stream is lost, and creates another one', async () => {
    await start();
    await backend.ready();
    const token = await issuer.token();
    const events = await backend.openEvents(token);
    await waitFor('a poll waits', () => issuer.waitingPolls === 1);
    issuer.removeStreams();
    await waitFor('the open response ends', () => events.isOver);
    await waitFor('it is admitted', async () => (await backend.statusOf(token)) === 200);
    expect(issuer.streamCount).toBe(1);
  });

  it.each([
    ['is signed with the key of tokens', () => issuer.signal({ events: {} }, issuer.signingKey)],
    ['has no identifier', () => issuer.signal({ events: {}, jti: undefined })],
    ['has no time', () => issuer.signal({ events: {}, iat: undefined })],
    ['is of another issuer', () => issuer.signal({ events: {}, iss: 'https://other.test' })],
    ['is for another backend', () => issuer.signal({ events: {}, aud: 'https://other.test' })],
  ])('admits no token while there is an event that %s', async (_fault, signal) => {
    await signal();
    await start();
    await fails();
    expect(await backend.statusOf(await issuer.token())).toBe(503);
  });

  it('acknowledges what it has stored, and keeps it', async () => {
    await start();
    await backend.ready();
    const isRefused = async (sid: string) =>
      (await backend.statusOf(await issuer.token({ sid }))) === 401;
    for (const sid of ['first', 'second']) {
      await issuer.endSession(sid);
      await waitFor(`${sid} is refused`, () => isRefused(sid));
    }
    expect(await isRefused('first')).toBe(true);
    // A poll does not wait while events are not acknowledged.
    await waitFor('a poll waits', () => issuer.waitingPolls === 1);
  });

  describe('behind a server that changes answers', () => {
    let front: LocalServer;
    let other: LocalServer;
    let isMoreAvailable = false;
    let isRedirected = false;
    let redirects = 0;
    let pollMs = 0;
    let polls = 0;
    const received: string[] = [];

    beforeEach(async () => {
      [polls, pollMs] = [0, 0];
      other = await startLocalServer(({ url }) => {
        received.push(url.pathname);
        return { status: 200, json: {} };
      });
      front = await startLocalServer(async ({ method, url, headers, body }) => {
        const { pathname } = url;
        if (isRedirected) {
          redirects += 1;
          return { status: 307, headers: { location: `${other.url}${pathname}` } };
        }
        if (pathname.includes('/poll/')) {
          polls += 1;
          await sleep(pollMs);
        }
        const { authorization = '', 'content-type': type = 'application/json' } = headers;
        const answer = await fetch(`${issuer.url}${pathname}`, {
          ...{ method, headers: { authorization, 'content-type': type } },
          ...(method === 'POST' && { body }),
        });
        const text = (await answer.text()).replaceAll(issuer.url, front.url);
        const more = text.replace('"moreAvailable":false', `"moreAvailable":${isMoreAvailable}`);
        return { status: answer.status, json: JSON.parse(more) as unknown };
      });
    });
    afterEach(async () => {
      await Promise.all([front.close(), other.close()]);
    });

    it('admits no token before a poll had no more events', async () => {
      isMoreAvailable = true;
      await start(front.url);
      await fails();
      expect(await backend.statusOf('x')).toBe(503);
      isMoreAvailable = false;
      await backend.ready();
    });

    it('counts its lease from its question, because the answer may be old', async () => {
      pollMs = 1500;
      await start(front.url, 1);
      await waitFor('two polls are answered', () => polls > 2);
      expect(await backend.statusOf('x')).toBe(503);
      pollMs = 0;
      await backend.ready();
    });

    it('does not follow a redirect with its secret', async () => {
      isRedirected = true;
      await start(front.url);
      await waitFor('it is redirected', () => redirects > 1);
      expect(received).toEqual([]);
      isRedirected = false;
      await backend.ready();
    });
  });
});
