import { randomUUID } from 'node:crypto';
import { CAEP, RISC, SsfTransmitter } from '../../fakes/ssf-transmitter.js';
import {
  AdminTokensFile,
  adminUrlOf,
  logInWithBrowser,
  sessionCookieOf,
} from '../../fixtures/admin-fixture.js';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { call } from '../../helpers/client.js';

const AUDIENCE = 'https://gate.example.com';
const APP = 'the-app-of-universal-logout';

const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const transmitter = await SsfTransmitter.start(AUDIENCE);
const directory = new ScimFixture(fixture);
const { issuer } = fixture.provider;
const server = await fixture.start({
  ...tokens.env,
  AUTH_PROVIDERS_CONFIG_JSON: fixture.providers({
    signals: {
      scim: { tokenFile: directory.tokenFile, match: 'email' },
      sharedSignals: { transmitter: transmitter.issuer, audience: AUDIENCE },
      globalTokenRevocation: { issuer, subject: APP, jwksUri: `${issuer}/jwks` },
    },
  }),
  ADMIN_PUBLIC_URL: 'http://console.example',
  ADMIN_LOGIN_PROVIDER: 'people',
  ADMIN_LOGIN_OPERATE_GROUPS: 'admins',
});
const url = await adminUrlOf(server);
afterAll(async () => {
  await fixture.close();
  await transmitter.close();
});

/** A person who administers the server, and has no account. */
interface Administrator {
  readonly sub: string;
  readonly sid: string;
  readonly email: string;
}

const newAdministrator = (): Administrator => {
  const sub = randomUUID();
  const email = `Ada.${sub}@example.com`;
  fixture.provider.groups.set(sub, ['admins']);
  fixture.provider.emails.set(sub, { email, isVerified: true });
  return { sub, sid: randomUUID(), email };
};

const logIn = ({ sub, sid }: Administrator): Promise<Response> =>
  logInWithBrowser(url, (address) => fixture.provider.authorize(address, sub, sid));

const statusOf = async (cookie: string): Promise<number> => {
  const headers = { cookie, host: 'console.example', 'sec-fetch-site': 'same-origin' };
  return (await call({ url }, 'GET', '/admin/v1/me', { headers })).status;
};

const bySubject = ({ sub }: Administrator) => ({ format: 'iss_sub', iss: issuer, sub });
const byEmail = ({ email }: Administrator) => ({ format: 'email', email: email.toUpperCase() });

const report = async (event: string, subject: unknown): Promise<void> => {
  const { status } = await call(server, 'POST', '/v1/signals/people', {
    body: await transmitter.event(event, subject),
    headers: { 'content-type': 'application/secevent+jwt' },
  });
  expect(status).toBe(202);
};
const logOutEverywhere = async (identifier: unknown): Promise<void> => {
  const token = await fixture.provider.logoutToken(APP, {
    claims: {
      aud: `${fixture.env['SERVICE_PUBLIC_URL']}/v1/signals/people/global-token-revocation`,
      events: undefined,
    },
    header: { typ: 'global-token-revocation+jwt' },
  });
  const request = { token, body: { sub_id: identifier } };
  const path = '/v1/signals/people/global-token-revocation';
  // No account has the identity.
  expect((await call(server, 'POST', path, request)).status).toBe(404);
};
const endSession = async ({ sid }: Administrator): Promise<void> => {
  const token = await fixture.provider.logoutToken('', { claims: { sub: undefined, sid } });
  const { status } = await call(server, 'POST', '/v1/auth/backchannel-logout/people', {
    body: new URLSearchParams({ logout_token: token }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(status).toBe(200);
};
const deactivate = async ({ email }: Administrator): Promise<void> => {
  const id = await directory.add(server, { userName: email, emails: [{ value: email }] });
  const replaced = [{ op: 'replace', path: 'active', value: false }];
  expect((await directory.patch(server, id, replaced)).status).toBe(200);
};

type Signal = [what: string, send: (administrator: Administrator) => Promise<void>];

describe('the session of an administrator without an account', () => {
  it.each<Signal>([
    ['an event about the subject', (one) => report(`${CAEP}session-revoked`, bySubject(one))],
    ['an event about the address', (one) => report(`${CAEP}session-revoked`, byEmail(one))],
    [
      'an event about the session',
      (one) =>
        report(`${CAEP}session-revoked`, {
          user: bySubject(one),
          session: { format: 'opaque', id: one.sid },
        }),
    ],
    ['universal logout by the subject', (one) => logOutEverywhere(bySubject(one))],
    ['universal logout by the address', (one) => logOutEverywhere(byEmail(one))],
    ['a logout token', endSession],
  ])('ends at a sign-out, and the next login begins another: %s', async (_what, signOut) => {
    const administrator = newAdministrator();
    const cookie = sessionCookieOf(await logIn(administrator));
    expect(await statusOf(cookie)).toBe(200);
    await signOut(administrator);
    expect(await statusOf(cookie)).toBe(401);
    expect(await statusOf(sessionCookieOf(await logIn(administrator)))).toBe(200);
    expect(await statusOf(cookie)).toBe(401);
  });

  it.each<Signal>([
    ['an event about the subject', (one) => report(`${RISC}account-disabled`, bySubject(one))],
    ['an event about the address', (one) => report(`${RISC}account-disabled`, byEmail(one))],
    ['the directory', deactivate],
  ])('ends at a refusal, and no other begins: %s', async (_what, refuse) => {
    const administrator = newAdministrator();
    const cookie = sessionCookieOf(await logIn(administrator));
    expect(await statusOf(cookie)).toBe(200);
    await refuse(administrator);
    expect(await statusOf(cookie)).toBe(401);
    const again = await logIn(administrator);
    expect([again.status, sessionCookieOf(again)]).toEqual([403, '']);
  });
});
