import { randomUUID } from 'node:crypto';
import { call, type Login } from '../../../helpers/client.js';
import { connect } from '../../../helpers/client-live.js';
import { finish } from '../../../helpers/keyless-calls.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../../fixtures/offboarding-fixture.js';
import { begin, unlink } from '../../../fixtures/provider-login-fixture.js';

const fixture = await OffboardingFixture.open();
const server = await fixture.start(KEYLESS);
afterAll(() => fixture.close());

/** A person with the identities `people` and `guild`, and a session that began with each. */
async function personOfBoth(): Promise<{ readonly person: Person; readonly other: Login }> {
  const person = await fixture.keylessLogin(server);
  const guest = randomUUID();
  expect((await fixture.connect(server, person, 'guild', guest)).status).toBe(200);
  const { url, proof } = await begin(server, 'guild', { mode: 'keyless' });
  const pending = await fixture.pendingOf(server, fixture.provider.authorize(url, guest));
  const { body } = await finish(server, { pending, proof }, 'guild');
  expect(body['accountId']).toBe(person.accountId);
  return { person, other: body as unknown as Login };
}

const tokensOf = async ({ token }: Login): Promise<unknown> =>
  (await call(server, 'GET', '/v1/push-tokens', { token })).body['tokens'];

describe('an identity that is unlinked from an account without a device key', () => {
  it('ends the sessions that began with it, with their push tokens, and no others', async () => {
    const { person, other } = await personOfBoth();
    const body = { token: 'ExponentPushToken[of-a-thief]' };
    expect((await call(server, 'POST', '/v1/push-tokens', { ...other, body })).status).toBe(200);
    const live = await connect(server, { token: other.token });
    await live.next('hello');
    expect((await unlink(server, person.token, 'guild')).status).toBe(200);
    expect(await live.next('closing')).toMatchObject({ code: 'token-revoked' });
    expect(await fixture.statusOf(server, other)).toBe(401);
    expect(await tokensOf(person)).toEqual([]);
    const { rows } = await fixture.sql.query(
      `SELECT kind, actor, provider FROM audit_event WHERE account_id = $1 ORDER BY id DESC LIMIT 3`,
      [person.accountId],
    );
    const by = { actor: 'user', provider: 'guild' };
    expect(rows.reverse()).toEqual([
      { kind: 'identity-unlinked', ...by },
      { kind: 'token-revoked', ...by },
      { kind: 'push-token-removed', ...by },
    ]);
  });

  it('ends the session that unlinks it, which nothing else authenticated', async () => {
    const { person, other } = await personOfBoth();
    expect((await unlink(server, other.token, 'guild')).status).toBe(200);
    expect(await fixture.statusOf(server, other)).toBe(401);
    expect(await fixture.statusOf(server, person)).toBe(200);
  });
});
