import type { Route } from 'playwright-core';
import type { Asker } from '../../../fixtures/asker-fixture.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { runSql } from '../../../fixtures/programs/services-fixture.js';
import { AccountCalls, OPTIONAL } from '../../../helpers/account-calls.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { open, sees as seesIn, seesAccount, tokenOf } from '../account-page-acts.js';
import { openRequests, signUpAsker } from '../request-page-acts.js';

const server = await startServer({ env: OPTIONAL });
afterAll(() => server.stop());
const visit = useChromium();

inChromium('requests that change while the page is open', () => {
  let visitor: Visitor;
  let asker: Asker;

  beforeEach(async () => {
    visitor = await visit(`${server.url}/app`);
    ({ asker } = await signUpAsker(visitor, server));
  });

  const sees = (words: string | RegExp) => seesIn(visitor, words);
  const button = (name: string) => visitor.page.getByRole('button', { name, exact: true });
  const link = (name: string | RegExp) => visitor.page.getByRole('link', { name });

  it('names what waits on the overview, and opens the only request', async () => {
    const only = await asker.ask({ cwd: '/only' });
    await link('A request waits for you').click();
    await sees('/only');
    await button('Allow').waitFor();
    await asker.ask();
    await open(visitor, 'Overview');
    await link('2 requests wait for you').click();
    await visitor.page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    await asker.withdraw(only);
    await open(visitor, 'Overview');
    await link('A request waits for you').waitFor();
  });

  it('shows and denies the request of an account without encryption, and allows none', async () => {
    const token = await tokenOf(visitor);
    expect((await new AccountCalls(server, token).changeMode('plain')).status).toBe(200);
    await visitor.page.reload();
    await seesAccount(visitor);
    const id = await asker.askPlain();
    await openRequests(visitor);
    await link('npm test').click();
    await sees('the computer cannot know that an answer is yours');
    await sees('/srv/app');
    expect(await button('Allow').count()).toBe(0);
    expect(await visitor.page.getByText('Keys for answers').count()).toBe(0);
    await button('Deny').click();
    await sees('You denied this.');
    const { body } = await call(server, 'GET', `/v1/requests/${id}`, { token });
    expect(body['answers']).toEqual([expect.objectContaining({ deny: true })]);
  });

  it('says that it is offline, keeps the request, and answers it afterwards', async () => {
    const asked = await asker.ask();
    await openRequests(visitor);
    await link('npm test').click();
    await button('Allow').waitFor();
    const context = visitor.page.context();
    await context.setOffline(true);
    await sees('You are offline.');
    await button('Allow').click();
    await visitor.page.locator('.request').getByRole('alert').waitFor();
    expect((await asker.judge(asked)).decision).toBeNull();
    await context.setOffline(false);
    await visitor.page.getByText('You are offline.').waitFor({ state: 'detached' });
    // A reading of the account that failed meanwhile shows a notice, which moves the button as it goes.
    await visitor.page.locator('main > [role=alert]').waitFor({ state: 'detached' });
    await button('Allow').click();
    await sees('has not yet confirmed');
    expect((await asker.judge(asked)).decision).toMatchObject({ choice: 'allow', isSigned: true });
  });

  it('sends the same answer again after it could not see that it arrived', async () => {
    const asked = await asker.ask();
    await openRequests(visitor);
    await link('npm test').click();
    const answers = /\/answer$/;
    await visitor.page.route(answers, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button('Allow').click();
    await sees('The server does not answer.');
    await visitor.page.unroute(answers);
    await button('Allow').click();
    await sees('You allowed this.');
    expect((await asker.judge(asked)).decision).toMatchObject({ choice: 'allow', isSigned: true });
  });

  const command = (text: string) => ({ tool: { name: 'Bash', input: { command: text } } });
  const shows = (...words: string[]) =>
    waitFor(`the order ${words.join(', ')}`, async () => {
      const rows = visitor.page.locator('ul.requests a');
      return (await rows.allInnerTexts()).join(', ') === words.join(', ');
    });

  it('shows the newest request first when it comes online, and else at the end', async () => {
    await asker.ask(command('oldest'));
    await asker.ask(command('older'));
    await openRequests(visitor);
    await shows('older', 'oldest');
    await asker.ask(command('while open'));
    await shows('older', 'oldest', 'while open');
    const context = visitor.page.context();
    await context.setOffline(true);
    await sees('You are offline');
    await asker.ask(command('while away'));
    await context.setOffline(false);
    await shows('while away', 'while open', 'older', 'oldest');
  });

  it('shows the newest request first also where it went offline while it loaded another', async () => {
    await asker.ask(command('older'));
    await openRequests(visitor);
    await shows('older');
    let show: () => void = () => undefined;
    let noteRead: () => void = () => undefined;
    const held = new Promise<void>((done) => (show = done));
    const read = new Promise<void>((done) => (noteRead = done));
    const holdBack = async (route: Route) => {
      const response = await route.fetch();
      noteRead();
      await held;
      await route.fulfill({ response });
    };
    await visitor.page.route('**/v1/requests/*', holdBack, { times: 1 });
    await asker.ask(command('while open'));
    await read;
    const context = visitor.page.context();
    await context.setOffline(true);
    await sees('You are offline');
    show();
    await shows('older', 'while open');
    await asker.ask(command('while away'));
    await context.setOffline(false);
    await shows('while away', 'while open', 'older');
  });

  it('shows that a request expired, and takes no answer any more', async () => {
    // A context of its own: its clock stays set.
    visitor = await visit(`${server.url}/app`, {});
    await visitor.page.clock.install();
    ({ asker } = await signUpAsker(visitor, server));
    const { request } = await asker.ask();
    await openRequests(visitor);
    await link('npm test').click();
    await button('Allow').waitFor();
    // The server judges by its own clock, and the page knows the expiry as it was.
    await runSql(
      server.databaseUrl ?? '',
      `UPDATE "agent_request" SET "expires_at" = now() WHERE "request_id" = '${request.requestId}'`,
    );
    await visitor.page.clock.fastForward('10:01');
    await sees('No answer came in time.');
    expect(await button('Deny').count()).toBe(0);
    expect(await button('Allow').count()).toBe(0);
  });

  it('takes the answer away from a request that was withdrawn or answered elsewhere', async () => {
    const [withdrawn, answered] = [await asker.ask(), await asker.ask({ cwd: '/answered' })];
    await openRequests(visitor);
    await link('npm test').last().click();
    await button('Allow').waitFor();
    await asker.withdraw(withdrawn);
    await sees('The program no longer asks');
    expect(await button('Allow').count()).toBe(0);
    await link('All requests').first().click();
    await visitor.page.goto(`${server.url}/app/#requests/${answered.request.requestId}`);
    await button('Allow').waitFor();
    await asker.routes.deny(answered.request.requestId);
    await asker.take(answered);
    await sees('This was answered on another device or at the computer.');
    expect(await button('Allow').count()).toBe(0);
  });

  it('counts an answered request no more, and takes no second answer in another load of the page', async () => {
    const asked = await asker.ask();
    const badge = visitor.page.getByLabel('1 waiting');
    await badge.waitFor();
    await openRequests(visitor);
    await link('npm test').click();
    await button('Allow').click();
    await sees('has not yet confirmed');
    await badge.waitFor({ state: 'detached' });
    await visitor.page.reload();
    await button('Deny').click();
    await sees('An earlier answer counts, not this one');
    expect(await button('Deny').count()).toBe(0);
    expect(await asker.judge(asked)).toMatchObject({ decision: { choice: 'allow' } });
    await asker.take(asked);
    await sees('The computer received an earlier answer.');
  });

  it.each([
    ['a phone', { width: 320, height: 640 }],
    ['a computer', { width: 1200, height: 800 }],
  ])('moves no request when another one ends, on %s', async (_where, size) => {
    await visitor.page.setViewportSize(size);
    const asked = [];
    for (const cwd of ['/one', '/two', '/three', '/four']) {
      asked.push(await asker.ask({ cwd: `/srv/projects/with-a-long-name${cwd}` }));
    }
    await openRequests(visitor);
    const links = visitor.page.getByRole('main').getByRole('listitem').getByRole('link');
    await links.nth(3).waitFor();
    const places = () =>
      visitor.page.evaluate<number[]>(
        `[...document.querySelectorAll('.requests a')].map((one) =>
          Math.round(one.getBoundingClientRect().top + scrollY))`,
      );
    const before = await places();
    await links.nth(1).click();
    await button('Allow').click();
    await sees('has not yet confirmed');
    await asker.withdraw(asked[0]!);
    await link('All requests').first().click();
    await visitor.page.getByText('Sent', { exact: true }).waitFor();
    await visitor.page.getByText('Withdrawn', { exact: true }).waitFor();
    expect(await places()).toEqual(before);
    await asker.take(asked[2]!);
    await visitor.page.getByText('Answered', { exact: true }).waitFor();
    const fifth = await asker.ask({ cwd: '/five' });
    await links.nth(4).waitFor();
    expect((await places()).slice(0, 4)).toEqual(before);
    expect(await links.nth(4).getAttribute('href')).toBe(`#requests/${fifth.request.requestId}`);
  });

  it('does not reload without a pause by a clock that is weeks behind', async () => {
    // Its own context, which is not used again: the clock of a context stays installed.
    const late = await visit('about:blank', {});
    await late.page.clock.setFixedTime(Date.now() - 30 * 86_400_000);
    await late.page.goto(`${server.url}/app`);
    const asking = await signUpAsker(late, server);
    let reads = 0;
    await late.page.route('**/v1/requests', (route) => {
      reads += 1;
      return route.continue();
    });
    await asking.asker.ask();
    await late.page.getByLabel('1 waiting').waitFor();
    const before = reads;
    await late.page.waitForTimeout(500);
    expect(reads - before).toBeLessThan(3);
  });
});
