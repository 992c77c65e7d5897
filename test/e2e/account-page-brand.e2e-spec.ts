import { hasChromium, startChromium, visit } from '../helpers/chromium.js';
import { startServer, type Server } from '../helpers/server.js';

describe('the account page of a deployment with a name, a logo and a colour', () => {
  const logo = 'https://cdn.example/acme.svg';
  let branded: Server;

  beforeAll(async () => {
    const env = {
      SERVICE_BRAND_NAME: 'Acme <& Sons>',
      SERVICE_BRAND__LOGO_URL: logo,
      SERVICE_BRAND__ACCENT: '#1f3fa8',
    };
    branded = await startServer({ env });
  });
  afterAll(() => branded.stop());

  it('may load images of the origin of the logo, and of no other', async () => {
    const answer = await fetch(new URL('/app', branded.url));
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/img-src data: https:\/\/cdn\.example(;|$)/);
    expect(policy).not.toContain('unsafe');
    const html = await answer.text();
    expect(html).toContain('<title>Acme &lt;&amp; Sons&gt;</title>');
    expect(html).toContain(`<link rel="icon" href="${logo}" />`);
    const style = await fetch(new URL('/app/brand.css', branded.url));
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(await style.text()).toContain('--brand-accent: light-dark(#1f3fa8, ');
  });

  (hasChromium() ? it : it.skip)('is in its name and its colour', async () => {
    const browser = await startChromium();
    const visitor = await visit(browser, 'about:blank');
    const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
    await visitor.page.route(logo, (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: picture }),
    );
    await visitor.page.goto(`${branded.url}/app`);
    await visitor.page.getByRole('heading', { name: 'Sign in to Acme <& Sons>' }).waitFor();
    await visitor.page.locator(`img[src="${logo}"]`).waitFor();
    const color = await visitor.page.evaluate(
      "getComputedStyle(document.querySelector('button.primary')).backgroundColor",
    );
    expect(color).toBe('rgb(31, 63, 168)');
    expect(visitor.browserErrors).toEqual([]);
    await browser.close();
  });
});
