import { call, logIn, makeDeviceKey, refusalOf, type DeviceKey } from '../../helpers/client.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { endSession, sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { newRequestId, RequestCalls, sealedText } from '../../helpers/request-calls.js';
import { waitFor } from '../../helpers/wait.js';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';
const REDIS_URL = `${process.env['TEST_REDIS_URL']}/${process.env['JEST_WORKER_ID']}`;

async function untilWaiting(server: Server): Promise<void> {
  await waitFor('the call waits', async () => {
    const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
    return /^gatehouse_agent_request_waits [1-9]/m.test(text);
  });
}

let key: DeviceKey;
let asker: RequestCalls;
let phone: RequestCalls;

const store = await createStore();
const start = (env: Readonly<Record<string, string>>) =>
  startServer({ store, env: { ...env, METRICS_TOKEN } });
const [first, second] = await Promise.all([start({ REDIS_URL }), start({ REDIS_URL })]);
// Its grace period is shorter than a wait, which would end it with another code.
let alone = await start({ SERVICE_SHUTDOWN_GRACE_SECONDS: '30' });

afterAll(async () => {
  await Promise.all([first, second, alone].map((server) => server.stop()));
  await store.drop();
});

describe('requests at several replicas', () => {
  beforeEach(async () => {
    key = makeDeviceKey();
    asker = new RequestCalls(first, (await logIn(first, key)).token);
    phone = new RequestCalls(second, await tokenOf(second, key));
  });

  it.each([
    ['with Redis', () => second],
    ['without a message between them', () => alone],
  ])('wakes a call at another replica %s', async (_case, other) => {
    const id = await asker.asked();
    const waiting = asker.wait(id);
    await untilWaiting(first);
    const sealed = sealedText();
    const answer = new RequestCalls(other(), phone.token).answer(id, { sealed });
    expect((await answer).status).toBe(200);
    expect((await waiting).body['answers']).toEqual([expect.objectContaining({ sealed })]);
  });

  it('keeps one answer of 50 simultaneous ones of a session at two replicas', async () => {
    const id = await asker.asked();
    const again = new RequestCalls(first, phone.token);
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_none, index) =>
        (index % 2 === 0 ? phone : again).answer(id, { sealed: sealedText() }),
      ),
    );
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await asker.read(id)).body['answers']).toHaveLength(1);
  });

  it('ends a wait when another replica ends its session', async () => {
    const id = await asker.asked();
    const waiting = asker.wait(id);
    await untilWaiting(first);
    await endSession(second, phone.token, sessionIdOf(asker.token));
    expect(refusalOf(await waiting)).toEqual({ status: 401, code: 'token-revoked' });
  });

  it('returns from waits when the server stops, with the request still open', async () => {
    const id = await asker.asked();
    const waiting = new RequestCalls(alone, asker.token).wait(id);
    await untilWaiting(alone);
    const [{ status, body }, exit] = await Promise.all([waiting, alone.kill('SIGTERM')]);
    expect([status, body['state'], exit.code]).toEqual([200, 'open', 0]);
    alone = await alone.restart();
    expect((await asker.read(id)).body['state']).toBe('open');
  });

  it('loses nothing that it acknowledged when it is killed', async () => {
    const killed = new RequestCalls(alone, asker.token);
    const killedPhone = new RequestCalls(alone, phone.token);
    const asked: string[] = [];
    const answers: string[] = [];
    const load = async (): Promise<void> => {
      for (let turn = 0; turn < 90; turn += 1) {
        const id = newRequestId();
        const { status } = await killed.ask({ id, sealed: sealedText() });
        if (status === 201) {
          asked.push(id);
        }
        if ((await killedPhone.answer(id, { sealed: sealedText() })).status === 200) {
          answers.push(id);
        }
      }
    };
    const ended = load().catch(() => undefined);
    await waitFor('some requests are answered', () => answers.length > 20);
    await alone.kill('SIGKILL');
    await ended;
    for (const id of asked) {
      const { body } = await asker.read(id);
      expect(body['state']).toBe('open');
      const count = (body['answers'] as readonly unknown[]).length;
      expect(count).toBeGreaterThanOrEqual(answers.includes(id) ? 1 : 0);
    }
  });
});
