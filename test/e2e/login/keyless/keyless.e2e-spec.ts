import { randomBytes } from 'node:crypto';
import { makeDeviceKey, refusalOf } from '../../../helpers/client.js';
import { connect } from '../../../helpers/client-live.js';
import { AccountCalls, encrypted, plain } from '../../../helpers/account-calls.js';
import {
  logInAtProvider,
  connectThrough,
  finalize,
  hashOf,
  loginThrough,
  params,
  startLoginFixture,
  unlink,
} from '../../../fixtures/provider-login-fixture.js';
import { finish, keylessLogin, OPTIONAL, pendingOf } from '../../../helpers/keyless-calls.js';
import { sessionsOf } from '../../../fixtures/sessions-fixture.js';

const fixture = await startLoginFixture({ env: OPTIONAL });
const server = fixture.server;

afterAll(() => fixture.stop());

describe('logins without a device key, the policy optional', () => {
  it('creates an account at the first login, whose content is plain, and finds it again', async () => {
    const { proof, back } = await pendingOf(server, 'anna');
    expect(back).toMatchObject({
      flow: 'auth',
      mode: 'keyless',
      storagePolicy: 'optional',
      provisioning: 'required',
      provisioningModes: 'plain,e2ee',
    });
    const first = await finish(server, { pending: back['pending'], proof });
    expect(first).toMatchObject({ status: 200, body: { success: true, created: true } });
    const account = new AccountCalls(server, String(first.body['token']));
    expect((await account.profile()).body).toMatchObject({
      id: first.body['accountId'],
      keyMode: 'keyless',
      encryptionMode: 'plain',
      identities: [{ provider: 'okta', login: 'anna', eligibility: { status: 'eligible' } }],
    });
    expect((await account.writeSettingsV2(plain('seen'), 0)).body).toMatchObject({ success: true });

    const second = await pendingOf(server, 'anna');
    expect(second.back).toMatchObject({ accountMode: 'plain' });
    expect(second.back).not.toHaveProperty('provisioning');
    const again = await finish(server, { pending: second.back['pending'], proof: second.proof });
    expect(again.body).toMatchObject({ created: false, accountId: first.body['accountId'] });
    expect(await sessionsOf(server, String(again.body['token']))).toMatchObject([
      { method: 'okta', current: true },
      { method: 'okta', current: false },
    ]);
    const there = new AccountCalls(server, String(again.body['token']));
    expect((await there.settingsV2()).body['content']).toEqual(plain('seen'));
  });

  it('permits a login that began with a key to finish without one', async () => {
    const { proof, back } = await pendingOf(server, 'chooser', 'okta', 'keyed');
    expect(back['provisioningModes']).toBe('plain,e2ee');
    const answer = await finish(server, { pending: back['pending'], proof });
    expect(answer.body).toMatchObject({ success: true, created: true });
  });

  it('refuses an account that has a device key with 409, and keeps the login pending', async () => {
    const key = makeDeviceKey();
    const keyed = await loginThrough(server, 'bert', key);
    expect(keyed.status).toBe(200);
    const { proof, back } = await pendingOf(server, 'bert');
    expect(back).toMatchObject({ accountMode: 'e2ee' });
    const refused = await finish(server, { pending: back['pending'], proof });
    expect(refusalOf(refused)).toEqual({ status: 409, code: 'restore-required' });
    const restored = await finalize(server, back['pending'], key, { proof });
    expect(restored.body).toMatchObject({ accountId: keyed.body.accountId, created: false });
  });

  it('requires the proof, and finishes a login only once', async () => {
    const { proof, back } = await pendingOf(server, 'cleo');
    const { pending } = back;
    const wrong = randomBytes(24).toString('base64url');
    expect(refusalOf(await finish(server, { pending, proof: wrong })).code).toBe('invalid-proof');
    expect(refusalOf(await finish(server, { pending })).code).toBe('invalid-request');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => finish(server, { pending, proof })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-pending' });
    }
  });

  it('requires a proof in place of a key', async () => {
    const { publicKey } = makeDeviceKey();
    const refused = await params(server, 'okta', { mode: 'keyless', publicKey });
    expect(refusalOf(refused)).toEqual({ status: 400, code: 'invalid-request' });
    const { body } = await params(server, 'okta', { mode: 'keyed', publicKey });
    const { pending } = await logInAtProvider(String(body['url']), 'dora');
    const finished = await finish(server, { pending, proof: 'anything' });
    expect(refusalOf(finished)).toEqual({ status: 400, code: 'invalid-proof' });
  });

  it('refuses people who are not eligible, and an unlisted provider', async () => {
    const { back } = await pendingOf(server, 'out-emil');
    expect(back).toEqual({ flow: 'auth', error: 'not_eligible' });
    const unlisted = await params(server, 'acme', { mode: 'keyless', proofHash: hashOf('x') });
    expect(refusalOf(unlisted)).toEqual({ status: 403, code: 'keyless-disabled' });
    expect(unlisted.body['provider']).toBe('acme');
    const { proof, back: keyed } = await pendingOf(server, 'frida', 'acme', 'keyed');
    const finished = await finish(server, { pending: keyed['pending'], proof }, 'acme');
    expect(refusalOf(finished)).toEqual({ status: 403, code: 'keyless-disabled' });
  });

  it('creates one account for a hundred simultaneous first logins of one person, and all succeed', async () => {
    const pendings = await Promise.all(
      Array.from({ length: 100 }, () => pendingOf(server, 'many')),
    );
    const answers = await Promise.all(
      pendings.map(({ proof, back }) => finish(server, { pending: back['pending'], proof })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body['accountId'])).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body['token'])).size).toBe(100);
    expect(answers.filter(({ body }) => body['created'] === true)).toHaveLength(1);
    const { token } = answers[0]?.body ?? {};
    const { body } = await new AccountCalls(server, String(token)).profile();
    expect(body['identities']).toHaveLength(1);
  });

  it('keeps a login method: the last identity of the account cannot be unlinked', async () => {
    const { body } = await keylessLogin(server, 'gina');
    const token = String(body['token']);
    const refused = await unlink(server, token);
    expect(refusalOf(refused)).toEqual({ status: 409, code: 'last-identity' });
    // Acme is linked then, and is not sufficient: it is not a keyless provider.
    expect((await connectThrough(server, 'gina', token, 'acme')).status).toBe(200);
    expect(refusalOf(await unlink(server, token)).status).toBe(409);
    expect((await unlink(server, token, 'acme')).status).toBe(200);
    const profile = await new AccountCalls(server, token).profile();
    expect(profile.body['identities']).toMatchObject([{ provider: 'okta' }]);
  });

  it('refuses encryption for an account without a key', async () => {
    const { body } = await keylessLogin(server, 'hans');
    const account = new AccountCalls(server, String(body['token']));
    expect(refusalOf(await account.changeMode('e2ee'))).toEqual({
      status: 400,
      code: 'invalid-request',
    });
    const migrated = await account.migrate({
      toMode: 'e2ee',
      expectedSettingsVersion: 0,
      settings: encrypted('eA=='),
      credentials: [],
    });
    expect(refusalOf(migrated)).toEqual({ status: 400, code: 'invalid-request' });
  });

  it('disconnects live clients when the person is not eligible, and notifies when access is regained', async () => {
    const { body } = await keylessLogin(server, 'ida');
    const token = String(body['token']);
    const live = await connect(server, { token });
    await live.next('hello');
    await keylessLogin(server, 'ida');
    await fixture.oidc.setGroups('ida', []);
    expect((await pendingOf(server, 'ida')).back['error']).toBe('not_eligible');
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'okta' });
    await live.disconnected;
    await fixture.oidc.setGroups('ida', ['engineering']);
    expect((await keylessLogin(server, 'ida')).status).toBe(200);
    const again = await connect(server, { token });
    // There is one change for the refusal, and one for the regained access.
    expect(await again.next('hello')).toMatchObject({ seq: 2 });
    again.close();
  });

  it('creates a new account after the previous one was deleted, without its content', async () => {
    const first = await keylessLogin(server, 'jana');
    await new AccountCalls(server, String(first.body['token'])).removeAccount();
    const second = await keylessLogin(server, 'jana');
    expect(second.body['created']).toBe(true);
    expect(second.body['accountId']).not.toBe(first.body['accountId']);
  });
});
