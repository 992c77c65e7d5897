import { brandedPage, brandElsewhere, brandStyle, imageSource } from './branded-page.js';

const HTML = `<head>
  <title>Gatehouse</title>
  <meta name="application-name" content="Gatehouse" />
  <meta name="gatehouse-logo" content="" />
  <meta name="gatehouse-support" content="" />
  <link
    rel="icon"
    href="data:image/svg+xml,own"
  />
</head>`;
const NONE = { name: 'Gatehouse', logoUrl: null, accent: null, support: null };

describe(brandedPage.name, () => {
  it('changes nothing without a brand', () => {
    expect(brandedPage(HTML, NONE)).toBe(HTML);
    expect(brandStyle(NONE)).toBe('');
  });

  it('writes any name as text', () => {
    const page = brandedPage(HTML, { ...NONE, name: `"><script>$&'` });
    expect(page).toContain(`<title>&quot;&gt;&lt;script&gt;$&amp;&#39;</title>`);
    expect(page).toContain(`content="&quot;&gt;&lt;script&gt;$&amp;&#39;"`);
  });

  it('writes who can help as text', () => {
    const page = brandedPage(HTML, { ...NONE, support: 'Ask "IT" <1234>' });
    expect(page).toContain(
      '<meta name="gatehouse-support" content="Ask &quot;IT&quot; &lt;1234&gt;" />',
    );
  });

  it('links the logo and the style', () => {
    const page = brandedPage(HTML, { ...NONE, logoUrl: '/logo.svg?a=1&b', accent: '#1f3fa8' });
    expect(page).toContain('<meta name="gatehouse-logo" content="/logo.svg?a=1&amp;b" />');
    expect(page).toContain('<link rel="icon" href="/logo.svg?a=1&amp;b" />');
    expect(page).toContain('<link rel="stylesheet" href="./brand.css" />');
    expect(page).not.toContain('svg+xml,own');
  });
});

describe(imageSource.name, () => {
  it.each([
    [null, null],
    ['data:image/png;base64,AAAA', null],
    ['/brand/logo.svg', "'self'"],
    ['https://cdn.example:8443/a/b.svg', 'https://cdn.example:8443'],
  ])('allows for the logo %j the source %j', (logoUrl, source) => {
    expect(imageSource(logoUrl)).toBe(source);
  });
});

describe(brandElsewhere.name, () => {
  it.each([
    ['/logo.svg', 'https://gate.example/home', 'https://gate.example/logo.svg'],
    ['/logo.svg', null, null],
    ['https://cdn.example/a.svg', 'https://gate.example', 'https://cdn.example/a.svg'],
    ['data:image/png;base64,AAAA', null, 'data:image/png;base64,AAAA'],
    [null, 'https://gate.example', null],
  ])('shows the logo %j of a server at %j as %j', (logoUrl, publicUrl, expected) => {
    expect(brandElsewhere({ ...NONE, logoUrl }, publicUrl)).toEqual({ ...NONE, logoUrl: expected });
  });
});
