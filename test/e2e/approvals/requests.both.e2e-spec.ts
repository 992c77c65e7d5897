import { call, logIn, makeDeviceKey, refusalOf, type DeviceKey } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { endSession, sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { AccountCalls, OPTIONAL } from '../../helpers/account-calls.js';
import { newRequestId, RequestCalls, sealedText } from '../../helpers/request-calls.js';
import { waitFor } from '../../helpers/wait.js';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';

const server = await startServer({ env: { ...OPTIONAL, METRICS_TOKEN } });

afterAll(() => server.stop());

let key: DeviceKey;
let asker: RequestCalls;

const session = async (name?: string): Promise<RequestCalls> =>
  new RequestCalls(
    server,
    await tokenOf(server, key, name === undefined ? {} : { client: { name } }),
  );

beforeEach(async () => {
  key = makeDeviceKey();
  asker = new RequestCalls(server, (await logIn(server, key)).token);
});

/** Number of calls that wait, as the metrics have it. */
const waits = async (): Promise<number> => {
  const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
  return Number(/^gatehouse_agent_request_waits (\d+)$/m.exec(text)?.[1]);
};

describe('requests', () => {
  it('stores a request once, which every session of the account reads with its content', async () => {
    const id = newRequestId();
    const sealed = sealedText(64 * 1024);
    const expiresAt = Date.now() + 60_000;
    const first = await asker.ask({ id, sealed, expiresAt });
    const sessionId = sessionIdOf(asker.token);
    expect(first.status).toBe(201);
    const request = {
      ...{ id, state: 'open', expiresAt, closedAt: null, sessionId },
      createdAt: expect.any(Number),
    };
    expect(first.body).toEqual(request);
    const again = await asker.ask({ id, sealed });
    expect([again.status, again.body]).toEqual([200, first.body]);
    const other = await asker.ask({ id, sealed: sealedText() });
    expect(refusalOf(other)).toEqual({ status: 409, code: 'request-id-used' });
    const phone = await session();
    expect((await phone.read(id)).body).toEqual({ ...request, sealed, answers: [] });
    const { createdAt } = first.body;
    expect((await phone.list()).body).toEqual({
      requests: [{ id, createdAt, expiresAt, sessionId, answers: 0 }],
    });
  });

  it('wakes a call that waits for an answer, which the asker takes', async () => {
    const phone = await session('phone');
    const phoneId = sessionIdOf(phone.token);
    const live = await connect(server, { token: phone.token });
    const id = await asker.asked();
    expect((await live.next('update'))['body']).toEqual({ t: 'request-created', requestId: id });
    const waiting = asker.wait(id);
    const sealed = sealedText();
    expect((await phone.answer(id, { sealed })).body).toEqual({ success: true });
    const { body } = await waiting;
    const answer = {
      ...{ sessionId: phoneId, sessionName: 'phone', answeredAt: expect.any(Number) },
      sealed,
    };
    expect(body).toMatchObject({ state: 'open', answers: [answer] });
    expect(body).not.toHaveProperty('sealed');
    expect((await live.next('update'))['body']).toEqual({ t: 'request-answered', requestId: id });
    const closed = await asker.close(id, phoneId);
    expect(closed.body).toMatchObject({ state: 'answered', answers: [answer] });
    expect((await live.next('update'))['body']).toEqual({ t: 'request-closed', requestId: id });
    expect((await asker.close(id)).body).toEqual(closed.body);
    expect((await phone.read(id)).body).not.toHaveProperty('sealed');
    live.close();
  });

  it('keeps the first answer of each session alone', async () => {
    const phone = await session();
    const id = await asker.asked();
    const sealed = sealedText();
    expect((await phone.answer(id, { sealed })).status).toBe(200);
    expect((await phone.answer(id, { sealed })).status).toBe(200);
    const refused = { status: 409, code: 'already-answered' };
    expect(refusalOf(await phone.answer(id, { sealed: sealedText() }))).toEqual(refused);
    expect(refusalOf(await phone.answer(id, { deny: true }))).toEqual(refused);
    const { body } = await asker.read(id);
    expect(body['answers']).toEqual([expect.objectContaining({ sealed })]);
  });

  it('keeps one answer of 50 simultaneous ones of a session', async () => {
    const phone = await session();
    const id = await asker.asked();
    const sent = await Promise.all(
      Array.from({ length: 50 }, () => phone.answer(id, { sealed: sealedText() })),
    );
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(sent.filter(({ body }) => body['code'] === 'already-answered')).toHaveLength(49);
    expect((await asker.read(id)).body['answers']).toHaveLength(1);
  });

  it('keeps the answer of another session once the asker rejects garbage of five', async () => {
    const id = await asker.asked();
    const thieves = await Promise.all(Array.from({ length: 9 }, () => session()));
    const garbage = await Promise.all(
      thieves.map((thief) => thief.answer(id, { sealed: sealedText() })),
    );
    expect(garbage.filter(({ status }) => status === 200)).toHaveLength(5);
    const phone = await session();
    const sealed = sealedText();
    expect(refusalOf(await phone.answer(id, { sealed }))).toEqual({
      status: 409,
      code: 'already-answered',
    });
    const { answers } = (await asker.read(id)).body as {
      readonly answers: readonly { readonly sessionId: string }[];
    };
    const [first] = answers.map(({ sessionId }) => sessionId);
    // Neither the phone nor a thief can remove an answer.
    expect(refusalOf(await phone.reject(id, first ?? '')).code).toBe('not-found');
    for (const { sessionId } of answers) {
      expect((await asker.reject(id, sessionId)).status).toBe(200);
    }
    const waiting = asker.wait(id);
    await waitFor('the call waits', async () => (await waits()) > 0);
    expect((await phone.answer(id, { sealed })).status).toBe(200);
    expect((await waiting).body['answers']).toEqual([expect.objectContaining({ sealed })]);
    const thief = thieves.find(({ token }) => sessionIdOf(token) === first);
    const again = await thief?.answer(id, { sealed: sealedText() });
    expect(again?.body['code']).toBe('already-answered');
  });

  it('accepts denials alone from an account in plain mode', async () => {
    const account = new AccountCalls(server, asker.token);
    expect((await account.changeMode('plain')).status).toBe(200);
    const phone = await session();
    const id = newRequestId();
    const content = { tool: { name: 'Bash', input: 'ls' } };
    expect(refusalOf(await asker.ask({ id, sealed: sealedText() })).code).toBe(
      'content-mode-mismatch',
    );
    expect((await asker.ask({ id, content })).status).toBe(201);
    expect((await phone.read(id)).body['content']).toEqual(content);
    expect(refusalOf(await phone.answer(id, { sealed: sealedText() })).code).toBe(
      'content-mode-mismatch',
    );
    expect((await phone.answer(id, { deny: true })).status).toBe(200);
    const { answers } = (await asker.wait(id)).body;
    expect(answers).toEqual([
      {
        ...{ sessionId: sessionIdOf(phone.token), sessionName: null, deny: true },
        answeredAt: expect.any(Number),
      },
    ]);
  });

  it('withdraws open requests when the encryption mode changes', async () => {
    const id = await asker.asked();
    const waiting = asker.wait(id);
    await waitFor('the call waits', async () => (await waits()) > 0);
    expect((await new AccountCalls(server, asker.token).changeMode('plain')).status).toBe(200);
    expect((await waiting).body).toMatchObject({ id, state: 'withdrawn' });
    expect(refusalOf(await (await session()).answer(id, { deny: true })).code).toBe(
      'already-answered',
    );
    expect((await asker.list()).body).toEqual({ requests: [] });
  });

  it('ends a wait with its session at once', async () => {
    const id = await asker.asked();
    const waiting = asker.wait(id);
    await waitFor('the call waits', async () => (await waits()) > 0);
    await endSession(server, (await session()).token, sessionIdOf(asker.token));
    expect(refusalOf(await waiting)).toEqual({ status: 401, code: 'token-revoked' });
    await waitFor('no call waits', async () => (await waits()) === 0);
  });

  it('returns from waits and refuses answers when the time of a request is over', async () => {
    const id = await asker.asked({ expiresAt: Date.now() + 1500 });
    expect((await asker.wait(id)).body).toMatchObject({ id, state: 'expired', answers: [] });
    expect(refusalOf(await (await session()).answer(id, { sealed: sealedText() }))).toEqual({
      status: 409,
      code: 'request-expired',
    });
    expect((await asker.close(id)).body).toMatchObject({ state: 'expired' });
    const past = { id: newRequestId(), sealed: sealedText(), expiresAt: Date.now() - 1 };
    expect(refusalOf(await asker.ask(past)).code).toBe('request-expired');
  });
});
