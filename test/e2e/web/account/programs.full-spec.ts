import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Route } from 'playwright-core';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { freePort } from '../../../fixtures/programs/service-process.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import {
  beginRequest,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
  redeem,
  refresh,
} from '../../../fixtures/programs-fixture.js';
import { backends } from '../../../fixtures/resource-server-fixture.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { createAccount, open, sees, seesAccount, tokenOf } from '../account-page-acts.js';
import { PageScreenshots } from '../page-screenshots.js';

const setup = backends([{ id: 'notes', name: 'Notes', programs: PROGRAMS }]);
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const server = await startServer({
  env: {
    ...{ ...setup.env, ...PROGRAM_ENV },
    ...{ PORT: String(port), SERVICE_LOGIN_ORIGINS: origin },
  },
});
const returned: string[] = [];
/** The program, which waits for its code. */
const program = createServer((request, response) => {
  returned.push(request.url ?? '');
  response.end('Back in the program');
});
await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
const redirectUri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
afterAll(async () => {
  program.close();
  await server.stop();
});

const screenshots = await PageScreenshots.open('programs');
const visit = useChromium();

inChromium('a request of a program on the account page', () => {
  const begin = async (verifier: string, more: object = {}): Promise<string> => {
    const id = await beginRequest(server, verifier, {
      redirect_uri: redirectUri,
      scope: 'notes:write',
      ...more,
    });
    return `${server.url}/app/authorize#${id}`;
  };
  const answerIn = (): URLSearchParams =>
    new URL(returned.at(-1) ?? '', 'http://127.0.0.1').searchParams;

  const stateOf = async (token: string): Promise<number> =>
    (await call(server, 'GET', '/v1/account/profile', { token })).status;

  async function signedIn(): Promise<Visitor> {
    const visitor = await visit(`${server.url}/app`);
    await createAccount(visitor);
    return visitor;
  }

  it('is allowed after the sign-in, with what the person leaves ticked, and listed until it ends', async () => {
    const verifier = newVerifier();
    const visitor = await visit(await begin(verifier));
    await sees(visitor, 'A program wants to act for you.');
    await screenshots.check(visitor, 'sign-in');
    await visitor.press('Create an account');
    await visitor.page.getByLabel('I saved the key').check();
    await visitor.press('Create the account');
    await visitor.page.locator('h1:focus', { hasText: 'Allow Inspector?' }).waitFor();
    await sees(visitor, 'a program on this computer');
    await screenshots.check(visitor, 'consent');
    const token = await tokenOf(visitor);
    expect(await visitor.page.getByLabel('Read your notes').isDisabled()).toBe(true);
    await visitor.page.getByLabel('Change your notes').uncheck();
    await visitor.press('Allow');
    await sees(visitor, 'Back in the program');
    const code = answerIn().get('code') ?? '';
    const answer = await redeem(server, code, verifier, { redirect_uri: redirectUri });
    expect(answer.body).toMatchObject({ scope: 'notes:read' });

    await visitor.page.goto(`${server.url}/app/`);
    await open(visitor, 'Devices and sessions');
    await sees(visitor, 'at Notes');
    await screenshots.check(visitor, 'devices');
    await visitor.press('End: Inspector');
    await sees(visitor, 'The access of the program was ended.');
    expect(await programsOf(server, token)).toEqual([]);
    expect(visitor.browserErrors).toEqual([]);
  });

  it('is announced and listed without an address where it has a file, until it ends', async () => {
    const visitor = await signedIn();
    const token = await tokenOf(visitor);
    const body = { name: 'backup', resource: 'notes' };
    expect((await call(server, 'POST', '/v1/account/programs', { token, body })).status).toBe(200);
    await sees(visitor, 'A program was allowed to act for you.');
    await open(visitor, 'Devices and sessions');
    await sees(visitor, 'a file of the gatehouse command');
    await visitor.press('End: backup');
    await sees(visitor, 'The access of the program was ended.');
    expect(await programsOf(server, token)).toEqual([]);
    expect(visitor.browserErrors).toEqual([]);
  });

  it('ends with all others of its program, and none of another', async () => {
    const visitor = await signedIn();
    const token = await tokenOf(visitor);
    await programTokens(server, token);
    await programTokens(server, token);
    const body = { name: 'backup', resource: 'notes' };
    expect((await call(server, 'POST', '/v1/account/programs', { token, body })).status).toBe(200);
    await open(visitor, 'Devices and sessions');
    await visitor.press('End all 2: Inspector');
    await sees(visitor, 'The access of the program was ended.');
    expect((await programsOf(server, token)).map(({ kind }) => kind)).toEqual(['file']);
    expect(visitor.browserErrors).toEqual([]);
  });

  it('ends with all programs of the person, and none of another person', async () => {
    const other = await tokenOf(await signedIn());
    await programTokens(server, other);
    const visitor = await signedIn();
    const token = await tokenOf(visitor);
    const tokens = [await programTokens(server, token), await programTokens(server, token)];
    const body = { name: 'backup', resource: 'notes' };
    expect((await call(server, 'POST', '/v1/account/programs', { token, body })).status).toBe(200);
    await open(visitor, 'Devices and sessions');
    await visitor.page.getByRole('button', { name: 'End all', exact: true }).click();
    await sees(visitor, 'The access of the program was ended.');
    await sees(visitor, 'No program may act for you.');
    expect(await visitor.page.getByRole('button', { name: /^End all/ }).count()).toBe(0);
    expect(await programsOf(server, token)).toEqual([]);
    for (const { refresh: ended } of tokens) {
      expect((await refresh(server, ended)).body['error']).toBe('invalid_grant');
    }
    expect(await programsOf(server, other)).toHaveLength(1);
    expect(visitor.browserErrors).toEqual([]);
  });

  it('ends with all others where another session has ended one of them', async () => {
    const visitor = await signedIn();
    const token = await tokenOf(visitor);
    await programTokens(server, token);
    await programTokens(server, token);
    await open(visitor, 'Devices and sessions');
    const last = (await programsOf(server, token)).at(-1);
    const routes = '**/v1/account/programs/*';
    const endLastFirst = async (route: Route) => {
      await call(server, 'DELETE', `/v1/account/programs/${last?.id ?? ''}`, { token });
      await route.continue();
    };
    await visitor.page.route(routes, endLastFirst, { times: 1 });
    const notFound = visitor.page.waitForResponse((answer) => answer.status() === 404);
    await visitor.press('End all 2: Inspector');
    await sees(visitor, 'The access of the program was ended.');
    expect((await notFound).url()).toContain(last?.id);
    expect(await programsOf(server, token)).toEqual([]);
  });

  it('is kept for another account, whose sign-in ends the session of the first', async () => {
    const verifier = newVerifier();
    const visitor = await signedIn();
    const { page } = visitor;
    const first = await tokenOf(visitor);
    await page.goto(await begin(verifier));
    await visitor.press('Use another account');
    await page.locator('h1:focus', { hasText: 'Sign in to' }).waitFor();
    await screenshots.check(visitor, 'other-account');
    await visitor.press('Back to the request');
    await sees(visitor, 'Allow Inspector?');
    expect(await tokenOf(visitor)).toBe(first);
    await visitor.press('Use another account');
    await visitor.press('Create an account');
    await page.getByLabel('I saved the key').check();
    await visitor.press('Create the account');
    await sees(visitor, 'Allow Inspector?');
    const second = await tokenOf(visitor);
    await waitFor('the end of the first session', async () => (await stateOf(first)) === 401);
    await visitor.press('Allow');
    await sees(visitor, 'Back in the program');
    const code = answerIn().get('code') ?? '';
    expect((await redeem(server, code, verifier, { redirect_uri: redirectUri })).status).toBe(200);
    expect(await programsOf(server, second)).toHaveLength(1);
  });

  it('ends no session that the other tabs of the browser keep', async () => {
    const visitor = await visit(`${server.url}/app`);
    const { page } = visitor;
    await page.getByLabel('Stay signed in on this device').check();
    await createAccount(visitor);
    const kept = await tokenOf(visitor);
    await page.goto(await begin(newVerifier()));
    await visitor.press('Use another account');
    await page.getByLabel('Stay signed in on this device').uncheck();
    await visitor.press('Create an account');
    await page.getByLabel('I saved the key').check();
    await visitor.press('Create the account');
    await sees(visitor, 'Allow Inspector?');
    expect(await tokenOf(visitor)).not.toBe(kept);
    await visitor.press('Cancel');
    await sees(visitor, 'Back in the program');
    expect(await stateOf(kept)).toBe(200);
  });

  it('answers access_denied to the program after Cancel', async () => {
    const visitor = await signedIn();
    await visitor.page.goto(await begin(newVerifier()));
    await visitor.press('Cancel');
    await sees(visitor, 'Back in the program');
    expect(answerIn().get('error')).toBe('access_denied');
  });

  it('says the next step for a request that is over, or that was refused', async () => {
    const visitor = await signedIn();
    const address = await begin(newVerifier());
    const token = await tokenOf(visitor);
    const id = address.split('#')[1] ?? '';
    await call(server, 'DELETE', `/v1/oauth/requests/${id}`, { token });
    await visitor.page.goto(address);
    await sees(visitor, 'or its ten minutes are over');
    expect(await visitor.text()).not.toContain('report it');
    await screenshots.check(visitor, 'over');
    await visitor.press('To your account');
    await seesAccount(visitor);
    await visitor.page.goto(`${server.url}/app/authorize#error=invalid-redirect`);
    await visitor.page.reload();
    await sees(visitor, 'did not register the address');
    await sees(visitor, 'Start again in the program.');
    await sees(visitor, 'report it to the operator of this server');
    await screenshots.check(visitor, 'refused');
  });

  it('is shown, and the programs are listed, as soon as the server answers after an outage', async () => {
    const visitor = await signedIn();
    const { page } = visitor;
    const address = await begin(newVerifier());
    await page.route('**/v1/oauth/requests/*', (route) => route.abort());
    await page.goto(address);
    await sees(visitor, 'The server does not answer.');
    await page.unroute('**/v1/oauth/requests/*');
    await sees(visitor, 'Allow Inspector?');
    expect(await visitor.text()).not.toContain('The server does not answer.');
    await visitor.press('Cancel');
    await sees(visitor, 'Back in the program');
    await page.goto(`${server.url}/app/`);
    await page.route('**/v1/account/programs', (route) => route.abort());
    await open(visitor, 'Devices and sessions');
    await sees(visitor, 'The server does not answer.');
    await page.unroute('**/v1/account/programs');
    await sees(visitor, 'No program may act for you.');
    await page.getByText('The server does not answer.').waitFor({ state: 'detached' });
  });
});
