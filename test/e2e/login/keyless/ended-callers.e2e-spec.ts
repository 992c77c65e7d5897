import { randomUUID } from 'node:crypto';
import { call, refusalOf, type Answer } from '../../../helpers/client.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../../fixtures/offboarding-fixture.js';
import { beginConnect, connectFinalize, unlink } from '../../../fixtures/provider-login-fixture.js';

const fixture = await OffboardingFixture.open();
const server = await fixture.start({ ...KEYLESS, AUTH_ACCESS_CACHE_SECONDS: '60' });
afterAll(() => fixture.close());

const ENDED = { status: 401, code: 'token-revoked' };

const providersOf = async ({ accountId }: Person): Promise<unknown[]> => {
  const { rows } = await fixture.sql.query<{ provider: string }>(
    'SELECT provider FROM identity WHERE account_id = $1 ORDER BY provider',
    [accountId],
  );
  return rows.map(({ provider }) => provider);
};

const END = 'token_epoch = token_epoch + 1';
const DISABLE = 'disabled_at = now()';

/** Changes the account as another replica does, whose message is lost. */
const changeElsewhere = async (person: Person, change: string): Promise<void> => {
  expect(await fixture.statusOf(server, person)).toBe(200);
  await fixture.sql.query(`UPDATE account SET ${change} WHERE id = $1`, [person.accountId]);
  expect(await fixture.statusOf(server, person)).toBe(200);
};

describe('a session that ended at another replica, and that this one has in memory', () => {
  it.each([
    ['', END, ENDED],
    [' while the account is disabled', DISABLE, { status: 403, code: 'account-disabled' }],
  ])(
    'links no identity, with which its thief could sign in again%s',
    async (_when, change, refusal) => {
      const person = await fixture.keylessLogin(server);
      const thief = randomUUID();
      fixture.provider.add(thief);
      const url = await beginConnect(server, person.token, 'guild');
      const pending = await fixture.pendingOf(server, fixture.provider.authorize(url, thief));
      await changeElsewhere(person, change);
      const linked = await connectFinalize(server, pending, person.token, 'guild');
      expect(refusalOf(linked)).toEqual(refusal);
      expect(await providersOf(person)).toEqual(['people']);
    },
  );

  it.each<readonly [string, (person: Person) => Promise<Answer>]>([
    ['unlinks no identity', ({ token }) => unlink(server, token, 'people')],
    [
      'does not delete the account',
      ({ token }) => call(server, 'DELETE', '/v1/account', { token }),
    ],
  ])('%s', async (_title, act) => {
    const person = await fixture.keylessLogin(server);
    const guest = randomUUID();
    expect((await fixture.connect(server, person, 'guild', guest)).status).toBe(200);
    await changeElsewhere(person, END);
    expect(refusalOf(await act(person))).toEqual(ENDED);
    expect(await providersOf(person)).toEqual(['guild', 'people']);
  });
});
