import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { EventStreamFixture, type EndingKind } from '../../fixtures/event-stream-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import {
  grantedCode,
  INSPECTOR,
  newVerifier,
  passTime,
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
  redeem,
  refresh,
  tokensIn,
  type ProgramTokens,
} from '../../fixtures/programs-fixture.js';
import { backends, basic, postForm } from '../../fixtures/resource-server-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { endSession, sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, logIn, makeDeviceKey, type DeviceKey } from '../../helpers/client.js';

const EVERYWHERE = '/v1/auth/logout-everywhere';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const setup = backends([{ id: 'notes', requireProviders: ['people'], programs: PROGRAMS }]);
const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const scim = new ScimFixture(fixture);
const env = {
  ...KEYLESS,
  AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
  AUTH_SIGNUP_PROVIDERS: 'people',
  ...setup.env,
  ...PROGRAM_ENV,
};
const one = await fixture.start({ ...env, ...tokens.env });
const two = await fixture.start(env);
const admin = new AdminCalls(await adminUrlOf(one), tokens.operator);
const stream = await EventStreamFixture.open(two, setup, 'notes');
afterAll(() => fixture.close());

const isActive = async (token: string): Promise<unknown> =>
  (await postForm(two, '/v1/oauth/introspect', { token }, basic('notes', setup.secretOf('notes'))))
    .body['active'];

/** A program of a person, which one of them is about to end. */
interface Case {
  readonly person: Person & { readonly key: DeviceKey };
  readonly program: ProgramTokens;
  /** The code that the program redeemed. */
  readonly code: string;
  readonly verifier: string;
}

type End = readonly [by: string, end: (one: Case) => Promise<unknown>];

/** A cause that has no case here does not compile. */
const ENDS: Readonly<Record<EndingKind, readonly [End, ...End[]]>> = {
  'token-revoked': [
    [
      'the person in another session',
      async ({ person }) => {
        const { key, token } = person;
        await endSession(one, await tokenOf(one, key), sessionIdOf(token));
      },
    ],
    [
      'an administrator',
      ({ person }) => admin.remove(`${person.accountId}/sessions/${sessionIdOf(person.token)}`),
    ],
  ],
  'all-tokens-revoked': [
    ['the person', ({ person: { token } }) => call(one, 'POST', EVERYWHERE, { token })],
    ['an administrator', ({ person }) => admin.act(person.accountId, 'revoke')],
  ],
  'account-disabled': [
    ['an administrator', ({ person }) => admin.act(person.accountId, 'disable')],
  ],
  'account-deleted': [
    ['the person', ({ person: { token } }) => call(one, 'DELETE', '/v1/account', { token })],
    ['an administrator', ({ person }) => admin.remove(person.accountId)],
  ],
  'identity-unlinked': [
    [
      'the person',
      ({ person: { token } }) => call(one, 'DELETE', '/v1/connect/external/people', { token }),
    ],
  ],
  'eligibility-lost': [
    [
      'the provider',
      async ({ person: { sub, accountId } }) => {
        fixture.provider.groups.set(sub, ['alumni']);
        await admin.act(accountId, 'recheck');
      },
    ],
  ],
  'directory-deactivated': [
    [
      'the directory',
      async ({ person: { sub } }) => {
        const id = await scim.add(one, { userName: randomUUID(), externalId: sub });
        await scim.patch(one, id, [{ op: 'replace', value: { active: false } }]);
      },
    ],
  ],
  'program-ended': [
    [
      'the person',
      async ({ person: { token } }) => {
        const [program] = await programsOf(one, token);
        await call(one, 'DELETE', `/v1/account/programs/${program?.id ?? ''}`, { token });
      },
    ],
    [
      'an administrator',
      async ({ person: { token, accountId } }) => {
        const [program] = await programsOf(one, token);
        await admin.remove(`${accountId}/programs/${program?.id ?? ''}`);
      },
    ],
    [
      'the program',
      ({ program }) =>
        postForm(one, '/v1/oauth/revoke', { token: program.refresh, client_id: INSPECTOR.id }),
    ],
    ['a second use of its code', ({ code, verifier }) => redeem(one, code, verifier)],
    [
      'an old refresh token',
      async ({ person, program }) => {
        await passTime(fixture.sql, person.accountId, MINUTE_MS);
        expect((await refresh(one, program.refresh)).status).toBe(200);
        await passTime(fixture.sql, person.accountId, HOUR_MS + MINUTE_MS);
        await refresh(one, program.refresh);
      },
    ],
  ],
};

const CASES = Object.entries(ENDS).flatMap(([cause, ends]) =>
  ends.map(([by, end]) => [cause, by, end] as const),
);

describe('access of the programs of a person (two replicas; needs PostgreSQL and Redis)', () => {
  it.each(CASES)('ends for good with %s by %s', async (_cause, _by, end) => {
    const key = makeDeviceKey();
    const login = await logIn(one, key);
    const [sub = ''] = await fixture.link([login.accountId]);
    const person = { ...login, key, sub };
    const verifier = newVerifier();
    const code = await grantedCode(two, person.token, verifier);
    const program = tokensIn(await redeem(two, code, verifier));
    expect(await isActive(program.access)).toBe(true);
    await end({ person, program, code, verifier });
    await stream.until(String(decodeJwt(program.access)['sid']));
    expect(await isActive(program.access)).toBe(false);
    const refused = await refresh(two, program.refresh);
    expect([refused.status, refused.body['error']]).toEqual([400, 'invalid_grant']);
    const { rows } = await fixture.sql.query('SELECT FROM program_grant WHERE account_id = $1', [
      person.accountId,
    ]);
    expect(rows).toHaveLength(0);
  });

  const ACTS: [string, (accountId: string) => Promise<unknown>][] = [
    ['all sessions are ended', (accountId) => admin.act(accountId, 'revoke')],
    ['the account is disabled', (accountId) => admin.act(accountId, 'disable')],
    ['the account is deleted', (accountId) => admin.remove(accountId)],
  ];

  it.each(ACTS)('ends after the sign-out of the approving session: %s', async (_what, act) => {
    const { accountId, token } = await logIn(one, makeDeviceKey());
    await fixture.link([accountId]);
    const program = await programTokens(two, token);
    await call(one, 'POST', '/v1/auth/logout', { token });
    expect((await refresh(two, program.refresh)).status).toBe(200);
    await act(accountId);
    expect((await refresh(two, program.refresh)).body['error']).toBe('invalid_grant');
    await stream.until(String(decodeJwt(program.access)['sid']));
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
});
