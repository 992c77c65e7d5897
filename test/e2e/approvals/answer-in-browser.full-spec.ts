import type { Browser } from 'playwright-core';
import { Notifying } from '../../fixtures/notify-fixture.js';
import {
  inChromium,
  startChromium,
  visitWith,
  type Visitor,
} from '../../fixtures/programs/browser-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { enterKey, open, sees, seesAccount } from '../web/account-page-acts.js';

inChromium('gatehouse ask, answered in a browser', () => {
  let server: Server;
  let browser: Browser;
  let asker: Notifying;
  let visitor: Visitor;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), startChromium()]);
    asker = await Notifying.start(server);
    await asker.webhook('phone');
    const { stdout: key } = await asker.user.run(['key', 'show']);
    visitor = await visitWith(browser, `${server.url}/app`);
    await enterKey(visitor, key.trim());
    await seesAccount(visitor);
  });
  afterAll(async () => {
    await browser.close();
    await asker.stop();
    await server.stop();
  });

  it.each([
    ['Allow', 0, 'allow\n', 'You allowed this, and the computer received your answer.'],
    ['Deny', 10, 'deny\n', 'You denied this, and the computer received your answer.'],
  ])('ends by “%s” with exit code %d', async (name, code, stdout, taken) => {
    await open(visitor, 'Overview');
    const asked = asker.start(
      ...['ask', 'permission', '--tool', 'Bash', '--command', `npm run ${name}`],
    );
    await visitor.page.getByRole('link', { name: 'A request waits for you' }).click();
    await sees(visitor, `npm run ${name}`);
    await visitor.press(name);
    const exited = await asked.exited;
    expect(exited).toMatchObject({ code, stdout });
    expect(exited.stderr).toMatch(
      /^Waiting 600 s for an answer: .+\nCtrl-C withdraws the request\.\n$/,
    );
    await sees(visitor, taken);
    expect(visitor.browserErrors).toEqual([]);
  });
});
