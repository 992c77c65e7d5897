import {
  call,
  expectErrorShape,
  logIn,
  makeDeviceKey,
  refusalOf,
} from '../../../helpers/client.js';
import {
  begin,
  logInAtProvider,
  finalize,
  hashOf,
  loginThrough,
  params,
  profile,
  startLoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const fixture = await startLoginFixture({ env: { AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true' } });
const server = fixture.server;
afterAll(() => fixture.stop());

describe('signing up through a provider', () => {
  it('creates an account with the identity linked, and logs it in again', async () => {
    const key = makeDeviceKey();
    const first = await begin(server);
    const back = await logInAtProvider(first.url, 'anna');
    expect(back).toEqual({
      flow: 'auth',
      pending: expect.stringMatching(/^[\w-]{43}$/),
      mode: 'keyed',
      storagePolicy: 'required_e2ee',
      provisioning: 'required',
      provisioningModes: 'e2ee',
    });
    const { status, body } = await finalize(server, back['pending'], key, first);
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true, created: true } });
    const again = await begin(server);
    const known = await logInAtProvider(again.url, 'anna');
    expect(known).toMatchObject({ flow: 'auth', mode: 'keyed', accountMode: 'e2ee' });
    expect(known).not.toHaveProperty('provisioning');
    const second = await finalize(server, known['pending'], key, again);
    expect(second.body).toMatchObject({ accountId: body['accountId'], created: false });
    expect(await logIn(server, key)).toMatchObject({ accountId: body['accountId'] });
    const { body: me } = await profile(server, String(body['token']));
    expect(me['identities']).toEqual([
      {
        provider: 'okta',
        login: 'anna',
        eligibility: {
          status: 'eligible',
          reason: null,
          checkedAt: expect.any(Number),
          nextCheckAt: expect.any(Number),
        },
        connectedAt: expect.any(Number),
      },
    ]);
  });

  it('creates no account with `create: false`, and the same login can still be finished', async () => {
    const key = makeDeviceKey();
    const first = await begin(server);
    const back = await logInAtProvider(first.url, 'no-new-account');
    const more = { create: false };
    const refused = await finalize(server, back['pending'], key, { ...first, more });
    expect(refused.status).toBe(404);
    expect(refusalOf(refused).code).toBe('not-found');
    const { body } = await finalize(server, back['pending'], key, first);
    expect(body).toMatchObject({ created: true });
    const again = await begin(server);
    const known = await logInAtProvider(again.url, 'no-new-account');
    const second = await finalize(server, known['pending'], key, { ...again, more });
    expect(second.body).toMatchObject({ created: false, accountId: body['accountId'] });
  });

  it('requests the login with PKCE, state and nonce, for this server only', async () => {
    const { url } = await begin(server);
    const query = new URL(url).searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      response_type: 'code',
      redirect_uri: `${server.url}/v1/oauth/okta/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/./),
    });
    const other = new URL((await begin(server)).url).searchParams;
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(other.get(name)).not.toBe(query.get(name));
    }
  });

  it('may begin with the public key in place of a proof', async () => {
    const key = makeDeviceKey();
    const { status, body } = await params(server, 'okta', { publicKey: key.publicKey });
    expect(status).toBe(200);
    const { pending } = await logInAtProvider(String(body['url']), 'berta');
    const stranger = await finalize(server, pending, makeDeviceKey());
    expect(refusalOf(stranger)).toEqual({ status: 400, code: 'invalid-proof' });
    expect((await finalize(server, pending, key)).body).toMatchObject({ created: true });
  });

  it('links the identity to the existing account of the key', async () => {
    const key = makeDeviceKey();
    const { accountId } = await logIn(server, key);
    const { body } = await loginThrough(server, 'clara', key);
    expect(body).toMatchObject({ accountId, created: false });
    const { body: me } = await profile(server, body.token);
    expect(me['identities']).toMatchObject([{ provider: 'okta', login: 'clara' }]);
  });

  it('links but creates no account where the provider is not allowed to sign up', async () => {
    const refused = await loginThrough(server, 'dora', makeDeviceKey(), 'acme');
    expect(refusalOf(refused)).toEqual({ status: 403, code: 'signup-provider-disabled' });
    expect(refused.body).toMatchObject({ provider: 'acme' });
    const key = makeDeviceKey();
    const { accountId } = await logIn(server, key);
    const { status, body } = await loginThrough(server, 'dora', key, 'acme');
    expect({ status, body }).toMatchObject({ status: 200, body: { accountId, created: false } });
  });

  it('assigns an identity to one account, and an account one identity per provider', async () => {
    const key = makeDeviceKey();
    await loginThrough(server, 'emma', key);
    const other = await loginThrough(server, 'emma', makeDeviceKey());
    expect(refusalOf(other)).toEqual({ status: 409, code: 'provider-already-linked' });
    expect(other.body).toMatchObject({ provider: 'okta' });
    const second = await loginThrough(server, 'frida', key);
    expect(refusalOf(second)).toEqual({ status: 409, code: 'provider-already-linked' });
  });
});

describe('a pending login', () => {
  const pendingOf = async (user: string) => {
    const { url, proof } = await begin(server);
    return { proof, pending: (await logInAtProvider(url, user))['pending'] ?? '' };
  };

  it('can be finished only once', async () => {
    const key = makeDeviceKey();
    const { pending, proof } = await pendingOf('gerda');
    expect((await finalize(server, pending, key, { proof })).status).toBe(200);
    const replay = await finalize(server, pending, key, { proof });
    expect(refusalOf(replay)).toEqual({ status: 400, code: 'invalid-pending' });
    expectErrorShape(replay);
  });

  it('is refused without its proof, and wrong proofs do not consume it', async () => {
    const { pending, proof } = await pendingOf('hanna');
    const wrong = [undefined, '', hashOf(proof), `${proof} `, proof.slice(1)];
    for (const attempt of wrong) {
      const answer = await finalize(server, pending, makeDeviceKey(), { proof: attempt });
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-proof' });
      expectErrorShape(answer);
    }
    const key = makeDeviceKey();
    const forged = await finalize(server, pending, key, {
      proof,
      more: { signature: Buffer.alloc(64, 7).toString('base64') },
    });
    expect(refusalOf(forged)).toEqual({ status: 401, code: 'invalid-signature' });
    expect((await finalize(server, pending, key, { proof })).body).toMatchObject({ created: true });
  });

  it('is refused at another provider', async () => {
    const { pending, proof } = await pendingOf('ida');
    const mixed = await finalize(server, pending, makeDeviceKey(), { proof, provider: 'acme' });
    expect(refusalOf(mixed)).toEqual({ status: 400, code: 'invalid-pending' });
    const { token } = await logIn(server);
    const connected = await call(server, 'POST', '/v1/connect/external/okta/finalize', {
      token,
      body: { pending },
    });
    expect(refusalOf(connected)).toEqual({ status: 400, code: 'invalid-pending' });
  });

  it('names its person to the holder of the proof alone, and can still be finished', async () => {
    const { pending, proof } = await pendingOf('klara');
    const describe = (provider: string, body: object) =>
      call(server, 'POST', `/v1/auth/external/${provider}/pending`, { body });
    for (const wrong of [{ pending }, { pending, proof: '' }, { pending, proof: hashOf(proof) }]) {
      const { status, text } = await describe('okta', wrong);
      expect({ status, isNamed: text.includes('klara') }).toEqual({ status: 400, isNamed: false });
    }
    for (const [provider, of] of [
      ['acme', pending],
      ['okta', 'nothing'],
    ] as const) {
      const refused = await describe(provider, { pending: of, proof });
      expect(refusalOf(refused)).toEqual({ status: 400, code: 'invalid-pending' });
    }
    expect(await describe('okta', { pending, proof })).toMatchObject({
      status: 200,
      body: { login: 'klara' },
    });
    const finished = await finalize(server, pending, makeDeviceKey(), { proof });
    expect(finished.body).toMatchObject({ created: true });
    const late = await describe('okta', { pending, proof });
    expect(refusalOf(late)).toEqual({ status: 400, code: 'invalid-pending' });
  });

  it('can be cancelled, whether it exists or not', async () => {
    const { pending, proof } = await pendingOf('jana');
    for (const path of [pending, pending, 'nothing', '%00']) {
      const answer = await call(server, 'DELETE', `/v1/auth/external/okta/pending/${path}`);
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 200,
        body: { success: true },
      });
    }
    const late = await finalize(server, pending, makeDeviceKey(), { proof });
    expect(refusalOf(late)).toEqual({ status: 400, code: 'invalid-pending' });
  });

  it.each(['', 'x', 'a'.repeat(128), '\u0000', '😀', "' OR 1=1 --"])(
    'is refused when it is unknown: %j',
    async (pending) => {
      const answer = await finalize(server, pending, makeDeviceKey(), { proof: 'p' });
      expect(answer.status).toBe(400);
      expect(answer.body['code']).toMatch(/^invalid-(pending|request)$/);
      expectErrorShape(answer);
    },
  );
});

describe('beginning a login through a provider', () => {
  it.each<[string, Record<string, string>, string]>([
    ['without proof or key', {}, 'invalid-request'],
    ['with a proof that is no hash', { proofHash: 'abc' }, 'invalid-request'],
    ['with another mode', { mode: 'admin', proofHash: hashOf('p') }, 'invalid-request'],
    [
      'with a key of low order',
      { publicKey: Buffer.alloc(32).toString('base64url') },
      'invalid-public-key',
    ],
    ['with a short key', { publicKey: 'AAAA' }, 'invalid-public-key'],
  ])('refuses to begin %s', async (_, query, code) => {
    const answer = await params(server, 'okta', query);
    expect(refusalOf(answer)).toEqual({ status: 400, code });
    expectErrorShape(answer);
  });

  it('refuses keyless where every account has a device key', async () => {
    const answer = await params(server, 'okta', { mode: 'keyless', proofHash: hashOf('p') });
    expect(refusalOf(answer)).toEqual({ status: 403, code: 'e2ee-required' });
  });

  it.each(['unknown', 'OKTA', '__proto__', 'constructor', 'key_challenge', 'mtls', '..%2fokta'])(
    'refuses the unknown provider %s',
    async (id) => {
      const answer = await params(server, id, { proofHash: hashOf('p') });
      expect(refusalOf(answer)).toEqual({ status: 404, code: 'unsupported-provider' });
      expectErrorShape(answer);
      const callback = await call(server, 'GET', `/v1/oauth/${id}/callback?state=x&code=y`);
      expect(refusalOf(callback)).toEqual({ status: 404, code: 'unsupported-provider' });
    },
  );
});
