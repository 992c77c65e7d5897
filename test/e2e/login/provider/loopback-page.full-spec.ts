import { createServer, type Server as HttpServer } from 'node:http';
import type { BrowserContextOptions } from 'playwright-core';
import { KEPT_OPEN, listen } from '../../../helpers/local-server.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import {
  begin,
  callbackOf,
  startLoginFixture,
  type LoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const visit = useChromium();
const PHONE = { width: 320, height: 640 };

inChromium('the confirmation page of a login that returns to a program', () => {
  let fixture: LoginFixture;
  let program: HttpServer;
  let port: string;
  const requests: string[] = [];

  beforeAll(async () => {
    fixture = await startLoginFixture();
    program = createServer(KEPT_OPEN, ({ url = '' }, response) => {
      // Browsers request the icon on their own, some time later.
      if (url !== '/favicon.ico') {
        requests.push(url);
      }
      response.end('done');
    });
    port = String(await listen(program));
  });
  afterAll(async () => {
    program.close();
    await fixture.stop();
  });
  beforeEach(() => requests.splice(0));

  async function open(options: BrowserContextOptions): Promise<Visitor> {
    const { url } = await begin(fixture.server, 'okta', { loopbackPort: port });
    const callback = await callbackOf(fixture.server, url, 'anna');
    return visit(callback.href, options);
  }

  it.each(['light', 'dark'] as const)(
    'fits a phone, %s, without a violation of its policy',
    async (scheme) => {
      const visitor = await open({ viewport: PHONE, colorScheme: scheme });
      expect(await visitor.text()).toContain('The okta provider');
      const width = await visitor.page.evaluate('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(PHONE.width);
      const paper = await visitor.page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(paper).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(22, 25, 29)');
      expect(requests).toEqual([]);
    },
  );

  it('continues by keyboard, without scripts', async () => {
    const visitor = await open({ javaScriptEnabled: false });
    await visitor.page.keyboard.press('Tab');
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/oauth\/okta\?/);
    expect(requests).toEqual([expect.stringMatching(/^\/oauth\/okta\?flow=auth&pending=/)]);
    expect(visitor.browserErrors).toEqual([]);
    await visitor.close();
  });

  it('cancels by keyboard, and notifies no program', async () => {
    const visitor = await open({ javaScriptEnabled: false });
    await visitor.page.keyboard.press('Tab');
    await visitor.page.keyboard.press('Tab');
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForURL(/\/cancel$/);
    expect(await visitor.text()).toContain('Nothing was sent');
    expect(requests).toEqual([]);
    expect(visitor.browserErrors).toEqual([]);
    await visitor.close();
  });
});
