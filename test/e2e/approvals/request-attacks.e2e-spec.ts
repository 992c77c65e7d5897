import { call, logIn, makeDeviceKey, refusalOf, type DeviceKey } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { newRequestId, RequestCalls, sealedText } from '../../helpers/request-calls.js';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';
const MAX_OPEN = 100;
const MAX_OF_SESSION = 25;
const MAX_BYTES_OF_SESSION = 1024 * 1024;

const server = await startServer({ env: { METRICS_TOKEN, SERVICE_LOG_LEVEL: 'trace' } });

afterAll(() => server.stop());

let key: DeviceKey;
let asker: RequestCalls;

const session = async (): Promise<RequestCalls> =>
  new RequestCalls(server, await tokenOf(server, key));

beforeEach(async () => {
  key = makeDeviceKey();
  asker = new RequestCalls(server, (await logIn(server, key)).token);
});

const NOT_FOUND = { status: 404, code: 'not-found' };

describe('requests under attack', () => {
  it('hides requests from another account, which may use the same id', async () => {
    const id = await asker.asked();
    const own = sessionIdOf(asker.token);
    const other = new RequestCalls(server, (await logIn(server)).token);
    for (const refused of [
      await other.read(id),
      await other.wait(id, 0),
      await other.wait(id),
      await other.answer(id, { deny: true }),
      await other.answer(id, { sealed: sealedText() }),
      await other.reject(id, own),
      await other.close(id),
    ]) {
      expect(refusalOf(refused)).toEqual(NOT_FOUND);
    }
    expect((await other.list()).body).toEqual({ requests: [] });
    expect((await other.ask({ id, sealed: sealedText() })).status).toBe(201);
    expect((await other.close(id)).body).toMatchObject({ state: 'withdrawn' });
    expect((await asker.read(id)).body).toMatchObject({ state: 'open', answers: [] });
  });

  it('answers everybody while an account asks for an id that no database stores', async () => {
    const id = await asker.asked();
    const other = new RequestCalls(server, (await logIn(server)).token);
    const rounds = Array.from({ length: 40 }, () => [other.read('%00'), asker.read(id)]);
    const answers = await Promise.all(rounds.map((pair) => Promise.all(pair)));
    const statuses = answers.map((pair) => pair.map(({ status }) => status).join(' '));
    expect(new Set(statuses)).toEqual(new Set(['404 200']));
  });

  it('lets only the session that asked close a request', async () => {
    const id = await asker.asked();
    const thief = await session();
    expect(refusalOf(await thief.close(id))).toEqual(NOT_FOUND);
    expect(refusalOf(await thief.close(id, sessionIdOf(thief.token)))).toEqual(NOT_FOUND);
    expect((await asker.read(id)).body).toMatchObject({ state: 'open' });
    // No session has answered, so that none can be named.
    expect(refusalOf(await asker.close(id, sessionIdOf(thief.token))).code).toBe('invalid-request');
    expect((await asker.close(id)).body).toMatchObject({ state: 'withdrawn' });
  });

  it('stores a request once for 50 simultaneous calls, and does not open it again for a replay', async () => {
    const body = { id: newRequestId(), sealed: sealedText() };
    const sent = await Promise.all(Array.from({ length: 50 }, () => asker.ask(body)));
    const statuses = sent.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(49).fill(200), 201]);
    await asker.close(body.id);
    const replay = await asker.ask({ ...body, expiresAt: Date.now() + 3_600_000 });
    expect([replay.status, replay.body['state']]).toEqual([200, 'withdrawn']);
    expect(refusalOf(await asker.answer(body.id, { sealed: sealedText() }))).toEqual({
      status: 409,
      code: 'already-answered',
    });
  });

  /** Returns how many of these requests at the same moment were stored, and how many were too many. */
  const askMany = async (by: RequestCalls, count: number, sealed = sealedText()) => {
    const sent = await Promise.all(
      Array.from({ length: count }, () => by.ask({ id: newRequestId(), sealed })),
    );
    return {
      stored: sent.filter(({ status }) => status === 201).length,
      tooMany: sent.filter(({ body }) => body['code'] === 'too-many-open-requests').length,
    };
  };

  it('stores a request of another session after a thief has asked a hundred', async () => {
    const thief = await session();
    expect(await askMany(thief, 100)).toEqual({
      stored: MAX_OF_SESSION,
      tooMany: 100 - MAX_OF_SESSION,
    });
    expect(await askMany(thief, 1)).toEqual({ stored: 0, tooMany: 1 });
    const id = await asker.asked();
    expect((await (await session()).answer(id, { deny: true })).status).toBe(200);
  });

  it('keeps room for the large request of another session, whatever a thief has sent', async () => {
    const sealed = sealedText(64 * 1024);
    const fitting = Math.floor(MAX_BYTES_OF_SESSION / sealed.length);
    const thief = await session();
    expect(await askMany(thief, fitting + 3, sealed)).toEqual({ stored: fitting, tooMany: 3 });
    expect(await askMany(asker, fitting, sealed)).toEqual({ stored: fitting, tooMany: 0 });
  });

  it('refuses more than 100 open requests of an account, until one is closed', async () => {
    const sessions = await Promise.all(Array.from({ length: 3 }, () => session()));
    for (const one of [asker, ...sessions]) {
      expect(await askMany(one, MAX_OF_SESSION)).toEqual({ stored: MAX_OF_SESSION, tooMany: 0 });
    }
    const fifth = await session();
    expect(await askMany(fifth, 5)).toEqual({ stored: 0, tooMany: 5 });
    const { requests } = (await asker.list()).body as { readonly requests: { id: string }[] };
    expect(requests).toHaveLength(MAX_OPEN);
    for (const { id } of requests) {
      await asker.close(id);
    }
    expect(await askMany(fifth, 5)).toEqual({ stored: 5, tooMany: 0 });
  });

  it.each([
    ['an id of another form', { id: 'a', sealed: sealedText() }],
    ['an id with unused bits', { id: `${'A'.repeat(21)}B`, sealed: sealedText() }],
    ['neither content', { id: newRequestId() }],
    ['both contents', { id: newRequestId(), sealed: sealedText(), content: {} }],
    ['sealed text that is too long', { id: newRequestId(), sealed: 'a'.repeat(90_001) }],
    ['sealed text with a line feed', { id: newRequestId(), sealed: 'a\nb' }],
    ['a time that is no number', { id: newRequestId(), sealed: 'a', expiresAt: '1' }],
  ])('refuses a request with %s', async (_case, body) => {
    expect(refusalOf(await asker.ask(body))).toEqual({ status: 400, code: 'invalid-request' });
  });

  it('refuses sealed content that is no text, and says so', async () => {
    const details = [{ path: 'sealed', message: 'sealed must be a string' }];
    const refused = await asker.ask({ id: newRequestId(), sealed: 7 });
    expect(refused.body).toMatchObject({ code: 'invalid-request', details });
    const answered = await asker.answer(await asker.asked(), { sealed: 7 });
    expect(answered.body).toMatchObject({ code: 'invalid-request', details });
  });

  it('refuses plain content of an encrypted account', async () => {
    const refused = await asker.ask({ id: newRequestId(), content: { tool: 'Bash' } });
    expect(refusalOf(refused)).toEqual({ status: 403, code: 'plaintext-writes-disabled' });
  });

  it('refuses an answer of another form', async () => {
    const id = await asker.asked();
    for (const body of [{}, { deny: false }, { deny: true, sealed: 'a' }, { sealed: '' }]) {
      expect(refusalOf(await asker.answer(id, body)).code).toBe('invalid-request');
    }
    expect((await asker.read(id)).body['answers']).toEqual([]);
  });

  it('reads no large body of a stranger, and at most 128 KiB of a caller', async () => {
    const body = JSON.stringify({ id: newRequestId(), sealed: 'a'.repeat(128 * 1024) });
    const stranger = await call(server, 'POST', '/v1/requests', { body });
    expect(refusalOf(stranger)).toEqual({ status: 401, code: 'missing-token' });
    const { token } = asker;
    for (const path of ['/v1/requests', `/v1/requests/${newRequestId()}/answer`]) {
      const refused = await call(server, 'POST', path, { token, body });
      expect(refusalOf(refused)).toEqual({ status: 413, code: 'payload-too-large' });
    }
  });

  it('lets a session wait ten times at once', async () => {
    const id = await asker.asked({ expiresAt: Date.now() + 600_000 });
    const waits = Array.from({ length: 14 }, () => asker.wait(id));
    const first = await Promise.race(waits);
    expect(refusalOf(first)).toEqual({ status: 429, code: 'rate-limited' });
    expect((await (await session()).answer(id, { deny: true })).status).toBe(200);
    const statuses = (await Promise.all(waits)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(10).fill(200), ...Array<number>(4).fill(429)]);
  });

  it('refuses a wait of another length', async () => {
    const id = await asker.asked();
    for (const seconds of ['51', '-1', '1.5', '1e1', 'x', '']) {
      const { token } = asker;
      const path = `/v1/requests/${id}?waitSeconds=${seconds}`;
      expect(refusalOf(await call(server, 'GET', path, { token })).code).toBe('invalid-request');
    }
  });

  it('writes no content to log, metrics and list, and logs the answering session', async () => {
    const phone = await session();
    const sealed = sealedText();
    const answer = sealedText();
    const id = newRequestId();
    await asker.ask({ id, sealed });
    expect((await asker.list()).text).not.toContain(sealed.slice(0, 20));
    await phone.answer(id, { sealed: answer });
    const phoneId = sessionIdOf(phone.token);
    await server.logged(new RegExp(`"kind":"request-answered".*"sessionId":"${phoneId}"`));
    const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
    expect(text).toMatch(/^gatehouse_agent_requests_total\{step="answered"\} [1-9]/m);
    for (const secret of [sealed, answer]) {
      expect(`${server.logs()}${text}`).not.toContain(secret.slice(0, 20));
    }
  });
});
