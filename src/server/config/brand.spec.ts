import { resolveSettings } from './resolve-settings.js';

describe('the brand of the account page', () => {
  it.each([
    ['SERVICE_BRAND_NAME', 'x'.repeat(41)],
    ['SERVICE_BRAND_NAME', 'two\nlines'],
    ['SERVICE_BRAND__LOGO_URL', 'http://cdn.example/logo.svg'],
    ['SERVICE_BRAND__LOGO_URL', '//cdn.example/logo.svg'],
    ['SERVICE_BRAND__LOGO_URL', "https://cdn.example/logo.svg;script-src'self'"],
    ['SERVICE_BRAND__LOGO_URL', 'https://*/logo.svg'],
    ['SERVICE_BRAND__LOGO_URL', 'javascript:alert(1)'],
    ['SERVICE_BRAND__LOGO_URL', 'data:text/html;base64,AAAA'],
    ['SERVICE_BRAND__LOGO_URL', `data:image/png;base64,${'A'.repeat(32_768)}`],
    ['SERVICE_BRAND__ACCENT', 'green'],
    ['SERVICE_BRAND__ACCENT', '#12345'],
    ['SERVICE_BRAND__ACCENT', '#123456;}'],
    ['SERVICE_SUPPORT_URL', 'http://help.example'],
    ['SERVICE_SUPPORT_URL', 'https://user:word@help.example'],
    ['SERVICE_SUPPORT_URL', 'https://help.example/two words'],
    ['SERVICE_SUPPORT_URL', 'mailto:help'],
    ['SERVICE_SUPPORT_URL', 'slack://channel'],
    ['SERVICE_SUPPORT_URL', 'two\nlines'],
    ['SERVICE_SUPPORT_URL', 'x'.repeat(201)],
  ])('refuses %s=%j', (name, value) => {
    expect(() => resolveSettings({ [name]: value })).toThrow(name);
  });

  it.each(['https://cdn.example/logo.svg', '/brand/logo.svg', 'data:image/svg+xml;base64,AAAA'])(
    'accepts the logo %s',
    (logoUrl) => {
      const { settings } = resolveSettings({ SERVICE_BRAND__LOGO_URL: logoUrl });
      expect(settings.brand.logoUrl).toBe(logoUrl);
    },
  );

  it.each([
    'https://help.acme.example/access?from=gate',
    'mailto:help@acme.example',
    'mailto:help@acme.example?subject=Access',
    'The IT desk, room 4, or https://help.acme.example',
    'Hilfe: Telefon 1234',
    'Call the desk:1234',
  ])('accepts the support %s', (support) => {
    expect(resolveSettings({ SERVICE_SUPPORT_URL: support }).settings.brand.support).toBe(support);
  });

  it('warns about a colour that is unreadable in both themes', () => {
    const { warnings } = resolveSettings({ SERVICE_BRAND__ACCENT: '#808080' });
    expect(warnings).toEqual([expect.stringContaining('SERVICE_BRAND__ACCENT')]);
    expect(resolveSettings({ SERVICE_BRAND__ACCENT: '#1f3fa8' }).warnings).toEqual([]);
  });
});
