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

  it('warns about a colour that is unreadable in both themes', () => {
    const { warnings } = resolveSettings({ SERVICE_BRAND__ACCENT: '#808080' });
    expect(warnings).toEqual([expect.stringContaining('SERVICE_BRAND__ACCENT')]);
    expect(resolveSettings({ SERVICE_BRAND__ACCENT: '#1f3fa8' }).warnings).toEqual([]);
  });
});
