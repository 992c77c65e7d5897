import {
  call,
  challengedLogin,
  expectErrorShape,
  logIn,
  loginBody,
  makeDeviceKey,
  refusalOf,
} from '../../helpers/client.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore, type Store } from '../../fixtures/programs/store-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';

const key = makeDeviceKey();
const stranger = makeDeviceKey();

describe('sign-up switched off', () => {
  let store: Store;
  let server: Server;
  let accountId: string;

  beforeAll(async () => {
    store = await createStore();
    const open = await startServer({ store });
    ({ accountId } = await logIn(open, key));
    await open.kill('SIGTERM');
    server = await startServer({ store, env: { AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false' } });
  });

  afterAll(async () => {
    await server.stop();
    await store.drop();
  });

  const post = (body: unknown) => call(server, 'POST', '/v1/auth', { body });

  it('refuses a new key, alone or 20 times simultaneously', async () => {
    const answer = await post(await challengedLogin(server, stranger));
    expect(refusalOf(answer)).toEqual({ status: 403, code: 'signup-disabled' });
    expectErrorShape(answer);
    const more = await Promise.all(
      Array.from({ length: 20 }, async () => post(await challengedLogin(server, stranger))),
    );
    expect(more.map(({ body }) => body['code'])).toEqual(Array(20).fill('signup-disabled'));
  });

  it('admits the key of an account', async () => {
    expect(await logIn(server, key)).toMatchObject({ accountId, created: false });
  });

  it('requires a valid signature of that key', async () => {
    const forged = { ...loginBody(key), signature: loginBody(stranger).signature };
    expect(refusalOf(await post(forged))).toEqual({ status: 401, code: 'invalid-signature' });
  });

  it('does not reveal if a key has an account to a caller that cannot sign for it', async () => {
    const { signature } = loginBody(makeDeviceKey());
    const answers = await Promise.all(
      [key, stranger].map(async (one) => {
        const body = { ...(await challengedLogin(server, one)), signature };
        return post({ ...body, create: false });
      }),
    );
    expect(answers.map(refusalOf)).toEqual(
      Array(2).fill({ status: 401, code: 'invalid-signature' }),
    );
    // A replayed login of that key is refused, too.
    const seen = await challengedLogin(server, stranger);
    await post(seen);
    expect((await post(seen)).body['code']).toBe('challenge-expired');
  });

  it('reports an invalid body before it reports that sign-up is off', async () => {
    expect((await post({})).body['code']).toBe('invalid-request');
    const answer = await post({ ...loginBody(stranger), publicKey: 'AAAA' });
    expect(answer.body['code']).toBe('invalid-public-key');
  });

  it('advertises login, not sign-up', async () => {
    const { body } = await call(server, 'GET', '/v1/features');
    expect(body).toMatchObject({
      capabilities: {
        auth: {
          methods: [{ method: 'key_challenge', action: 'login', mode: 'keyed' }],
          signup: { methods: [{ id: 'anonymous', enabled: false }] },
        },
      },
    });
  });

  it('stores nothing of refused sign-ups', async () => {
    const rows = await runSql(server.databaseUrl, 'SELECT public_key FROM account');
    expect(rows).toEqual([{ public_key: key.raw }]);
    await server.kill('SIGTERM');
    server = await startServer({ store });
    expect(await logIn(server, stranger)).toMatchObject({ created: true });
  });
});

describe('device-key login switched off', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ env: { AUTH_KEY_CHALLENGE_ENABLED: 'false' } });
  });
  afterAll(() => server.stop());

  it('refuses every key and is not advertised', async () => {
    const answer = await call(server, 'POST', '/v1/auth', {
      body: await challengedLogin(server, key),
    });
    expect(refusalOf(answer)).toEqual({ status: 403, code: 'key-challenge-disabled' });
    expectErrorShape(answer);
    const { body } = await call(server, 'GET', '/v1/features');
    expect(body).toMatchObject({
      features: { auth: { login: { keyChallenge: { enabled: false } } } },
      capabilities: { auth: { methods: [] } },
    });
  });
});
