import { isAllowableScheme, judgeReturnAddress, returnAddressFor } from './return-address.js';

describe('judgeReturnAddress', () => {
  it.each([
    'https://app.example.com',
    'https://app.example.com/path',
    'http://localhost:8081',
    'http://127.0.0.1:3000/oauth',
    'http://127.8.9.1',
    'http://[::1]:3000',
  ])('accepts %s as safe', (address) => {
    expect(judgeReturnAddress(address, [])).toEqual({ safe: true });
  });

  it('accepts a listed scheme as safe, and no other', () => {
    expect(judgeReturnAddress('myapp://oauth', ['myapp'])).toEqual({ safe: true });
    expect(judgeReturnAddress('MyApp:///', ['myapp'])).toEqual({ safe: true });
    expect(judgeReturnAddress('other://oauth', ['myapp']).safe).toBe(false);
  });

  it.each([
    ['javascript:alert(1)', 'never safe'],
    ['data:text/html,x', 'never safe'],
    ['file:///etc/passwd', 'never safe'],
    ['vbscript:x', 'never safe'],
    ['http://app.example.com', 'not loopback'],
    ['http://localhost.evil.example', 'not loopback'],
    ['http://127.0.0.1.evil.example', 'not loopback'],
    ['http://0.0.0.0', 'not loopback'],
    ['https://user:pass@app.example.com', 'user name'],
    ['https://app.example.com@evil.example', 'user name'],
    ['https://app.example.com/?a=1', 'query'],
    ['https://app.example.com/?', 'query'],
    ['https://app.example.com/#x', 'fragment'],
    ['java\nscript:alert(1)', 'full address'],
    ['https://app.example.com\\@evil.example', 'full address'],
    [' https://app.example.com', 'full address'],
    ['//app.example.com', 'full address'],
    ['/oauth', 'full address'],
    ['', 'full address'],
  ])('refuses %j even when every scheme is listed', (address, reason) => {
    const verdict = judgeReturnAddress(address, ['javascript', 'data', 'file', 'vbscript', 'http']);
    expect(verdict).toEqual({ safe: false, reason: expect.stringContaining(reason) });
  });
});

describe('isAllowableScheme', () => {
  it.each(['javascript', 'DATA', 'file', 'vbscript', 'http'])('refuses %s', (scheme) => {
    expect(isAllowableScheme(scheme)).toBe(false);
  });

  it('allows the scheme of an app', () => {
    expect(isAllowableScheme('myapp')).toBe(true);
  });
});

describe('returnAddressFor', () => {
  const hostedUrl = 'https://gate.example.com';
  const webappUrl = 'https://app.example.com';

  it('prefers the return base, then the web app, then the page of this server', () => {
    const returnUrlBase = 'myapp://oauth';
    expect(returnAddressFor({ returnUrlBase, webappUrl, hostedUrl }, 'okta')).toBe(
      'myapp://oauth/okta',
    );
    expect(returnAddressFor({ returnUrlBase: null, webappUrl, hostedUrl }, 'okta')).toBe(
      'https://app.example.com/oauth/okta',
    );
    expect(returnAddressFor({ returnUrlBase: null, webappUrl: null, hostedUrl }, 'okta')).toBe(
      'https://gate.example.com/app/oauth/okta',
    );
  });

  it('is null when no address is known', () => {
    const facts = { returnUrlBase: null, webappUrl: null, hostedUrl: null };
    expect(returnAddressFor(facts, 'okta')).toBeNull();
  });

  it('adds no slash to a base that ends with one', () => {
    const facts = { returnUrlBase: 'myapp://', webappUrl: null, hostedUrl: null };
    expect(returnAddressFor(facts, 'okta')).toBe('myapp://okta');
  });
});
