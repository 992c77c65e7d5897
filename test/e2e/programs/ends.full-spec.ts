import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { PROGRAM_ENV, PROGRAMS, programTokens, refresh } from '../../fixtures/programs-fixture.js';
import { backends, basic, postForm } from '../../fixtures/resource-server-fixture.js';
import { sessionIdOf } from '../../fixtures/sessions-fixture.js';
import { call } from '../../helpers/client.js';

const setup = backends([{ id: 'notes', requireProviders: ['people'], programs: PROGRAMS }]);
const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const env = {
  ...KEYLESS,
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
  AUTH_SIGNUP_PROVIDERS: 'people',
  ...setup.env,
  ...PROGRAM_ENV,
};
const one = await fixture.start({ ...env, ...tokens.env });
const two = await fixture.start(env);
const admin = new AdminCalls(await adminUrlOf(one), tokens.operator);
const stream = await EventStreamFixture.open(two, setup, 'notes');
afterAll(async () => {
  await fixture.close();
  await tokens.remove();
  setup.remove();
});

const isActive = async (token: string): Promise<unknown> =>
  (await postForm(two, '/v1/oauth/introspect', { token }, basic('notes', setup.secretOf('notes'))))
    .body['active'];

describe('access of the programs of a person who leaves (two replicas; needs PostgreSQL and Redis)', () => {
  const ENDS: [string, (person: Person) => Promise<unknown>][] = [
    ['an administrator disables the account', ({ accountId }) => admin.act(accountId, 'disable')],
    ['an administrator revokes the account', ({ accountId }) => admin.act(accountId, 'revoke')],
    ['an administrator deletes the account', ({ accountId }) => admin.remove(accountId)],
    [
      'an administrator ends the session that approved them',
      ({ accountId, token }) => admin.remove(`${accountId}/sessions/${sessionIdOf(token)}`),
    ],
    [
      'the person removes the identity that the backend requires',
      ({ token }) => call(one, 'DELETE', '/v1/connect/external/people', { token }),
    ],
    [
      'the provider does not confirm the person any more',
      async ({ sub, accountId }) => {
        fixture.provider.groups.set(sub, ['alumni']);
        await admin.act(accountId, 'recheck');
      },
    ],
  ];

  it.each(ENDS)('ends when %s', async (_what, end) => {
    const person = await fixture.person(one);
    const program = await programTokens(two, person.token);
    expect(await isActive(program.access)).toBe(true);
    await end(person);
    await stream.until(String(decodeJwt(program.access)['sid']));
    expect(await isActive(program.access)).toBe(false);
    const refused = await refresh(two, program.refresh);
    expect([refused.status, refused.body['error']]).toEqual([400, 'invalid_grant']);
  });

  it('ends with a back-channel logout of the session at the provider', async () => {
    const sid = randomUUID();
    const person = await fixture.keylessLogin(one, randomUUID(), sid);
    const program = await programTokens(two, person.token);
    const token = await fixture.provider.logoutToken(person.sub, { claims: { sid } });
    await call(one, 'POST', '/v1/auth/backchannel-logout/people', {
      body: new URLSearchParams({ logout_token: token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    await stream.until(String(decodeJwt(program.access)['sid']));
    expect((await refresh(two, program.refresh)).body['error']).toBe('invalid_grant');
  });

  it('issues no token without a later event when the account is disabled meanwhile', async () => {
    for (let round = 0; round < 5; round += 1) {
      const person = await fixture.person(one);
      const first = await programTokens(two, person.token);
      const racing = Array.from({ length: 8 }, (_none, index) =>
        refresh(index % 2 === 0 ? one : two, first.refresh),
      );
      await admin.act(person.accountId, 'disable');
      const issued = (await Promise.all(racing)).filter(({ status }) => status === 200);
      const sids = new Set(
        [first.access, ...issued.map(({ body }) => String(body['access_token']))].map((access) =>
          String(decodeJwt(access)['sid']),
        ),
      );
      for (const sid of sids) {
        await stream.until(sid);
      }
      expect((await refresh(one, first.refresh)).status).not.toBe(200);
    }
  });
});
