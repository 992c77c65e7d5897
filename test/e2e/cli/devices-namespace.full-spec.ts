import type { Browser } from 'playwright-core';
import { hasChromium, startChromium, visitWith } from '../../fixtures/programs/browser-fixture.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { beginLogin, finishLogin, takeWords } from '../web/device-acts.js';
import { namespaceOfRun } from '../../fixtures/programs/network-namespace-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';

const network = namespaceOfRun();
const suite = hasChromium() && network.isMade ? describe : describe.skip;

suite('a machine in a separate network, without a browser', () => {
  let browser: Browser;
  let server: Server;

  beforeAll(async () => {
    browser = await startChromium();
    server = await startServer({ env: { HOST: '0.0.0.0' } });
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  it('logs in with a code that a browser outside approves', async () => {
    const machine = await createCliUser(network.enter);
    const visitor = await visitWith(browser, `${server.url}/app`);
    const { page, press } = visitor;
    try {
      const unreachable = ['login', '--server', server.url, '--code', '--account', 'x'];
      const loopback = await machine.run(unreachable);
      expect(loopback.code).toBe(4);

      await page.getByText('Create an account').click();
      const key = await page.getByLabel('Your new device key').inputValue();
      await page.getByLabel('I saved the key').check();
      await press('Create the account');
      await page.getByText('Your account is ready.').waitFor();

      const outside = `http://${network.hostAddress}:${server.port}`;
      const { cli, userCode, checkWords } = await beginLogin(machine, outside);

      await page.goto(`${server.url}/app/device`);
      await page.getByLabel('Code that the new device shows').fill(userCode);
      await press('Continue');
      await page.getByText(checkWords.join(' '), { exact: true }).waitFor();
      await page.getByLabel('Device key', { exact: true }).fill(key);
      await page.getByLabel('The new device shows the same words').check();
      await press('Add the device');
      await finishLogin(cli, await takeWords(visitor));

      expect((await machine.run(['key', 'show'])).stdout.trim()).toBe(key);
      expect(await machine.run(['login'])).toMatchObject({ code: 0 });
      expect(visitor.browserErrors).toEqual([]);
    } finally {
      await visitor.close();
    }
  });
});
