import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { seesTabTitle } from '../account-page-acts.js';
import { openConsole, seesTitle } from '../admin-console-acts.js';
import { AdminTokensFile, adminUrlOf } from '../../../fixtures/admin-fixture.js';

const LOGO = 'https://cdn.example/acme.svg';

const tokens = await AdminTokensFile.create();
const env = {
  ...tokens.env,
  SERVICE_BRAND_NAME: 'Acme <& Sons>',
  SERVICE_BRAND__LOGO_URL: LOGO,
  SERVICE_BRAND__ACCENT: '#1f3fa8',
};
const branded = await startServer({ env });
const adminUrl = await adminUrlOf(branded);
afterAll(() => branded.stop());
const visit = useChromium();

describe('the pages of a deployment with a name, a logo and a colour', () => {
  it.each([
    ['account page', '/app', () => branded.url],
    ['console', '/admin', () => adminUrl],
  ])(
    'allows %s to load images from the origin of the logo, and from no other',
    async (_, path, origin) => {
      const answer = await fetch(new URL(path, origin()));
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/img-src data: https:\/\/cdn\.example(;|$)/);
      expect(policy).not.toContain('unsafe');
      const html = await answer.text();
      expect(html).toContain('<title>Acme &lt;&amp; Sons&gt;</title>');
      expect(html).toContain(`<link rel="icon" href="${LOGO}" />`);
      const style = await fetch(new URL(`${path}/brand.css`, origin()));
      expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
      expect(await style.text()).toContain('--brand-accent: light-dark(#1f3fa8, ');
    },
  );

  inChromium('in a browser', () => {
    /** @param url of a page that is shown before its address is known to the logo's server */
    async function showLogo({ page }: Visitor, url: string): Promise<void> {
      const body = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
      await page.route(LOGO, (route) => route.fulfill({ contentType: 'image/svg+xml', body }));
      await page.goto(url);
      await page.reload();
      await page.locator(`img[src="${LOGO}"]`).waitFor();
    }

    it('shows the account page with the name and colour of the deployment', async () => {
      const visitor = await visit('about:blank');
      await showLogo(visitor, `${branded.url}/app`);
      const { page } = visitor;
      await page.getByRole('heading', { name: 'Sign in to Acme <& Sons>' }).waitFor();
      expect(await buttonColor(visitor)).toBe('rgb(31, 63, 168)');
    });

    it('shows the console with the name and colour of the deployment, before and after the sign-in', async () => {
      const outside = await visit('about:blank');
      await showLogo(outside, `${adminUrl}/admin/`);
      await outside.page.getByText('Acme <& Sons>').waitFor();
      expect(await buttonColor(outside)).toBe('rgb(31, 63, 168)');

      const visitor = await openConsole(visit, adminUrl, tokens.reader);
      await showLogo(visitor, `${adminUrl}/admin/#policy`);
      await seesTitle(visitor, 'Policy');
      await seesTabTitle(visitor, 'Policy · Acme <& Sons>');
      await visitor.page.getByRole('link', { name: /Acme <& Sons>/ }).waitFor();
      expect(await buttonColor(visitor)).toBe('rgb(31, 63, 168)');
    });
  });
});

async function buttonColor({ page }: Visitor): Promise<string> {
  await page.locator('button.primary').first().waitFor();
  return page.evaluate(
    "getComputedStyle(document.querySelector('button.primary')).backgroundColor",
  );
}
