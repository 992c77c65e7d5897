import { readBrowserAddress } from './provider-login.js';

describe(readBrowserAddress.name, () => {
  it.each([
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    'vscode://file/etc/passwd',
    'vscode:extension/evil.extension',
    '--version',
    '-x',
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,hello',
    'ms-msdt:/id PCWDiagnostic',
    'http://id.example/authorize',
    'http://127.0.0.1.evil.example/',
    'http://localhost.evil.example/',
    'http://0.0.0.0/',
    'https://id.example@evil.example/',
    'https://',
    'https:// evil',
    '//evil.example/',
    '/etc/passwd',
    'xdg-open',
    '',
    '\u001b]8;;file:///etc/passwd\u0007click\u001b]8;;\u0007',
  ])('refuses %j', (address) => {
    expect(() => readBrowserAddress(address)).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ code: 'unsafe-address' }) }),
    );
  });

  it.each([
    ['HTTPS://ID.example/a b?c=$(id)&d=`id`;', 'https://id.example/a%20b?c=$(id)&d=`id`;'],
    ['\thttps://id.example/--version\n', 'https://id.example/--version'],
    ['http://127.0.0.1:4000/authorize', 'http://127.0.0.1:4000/authorize'],
    ['http://[::1]:4000/', 'http://[::1]:4000/'],
    ['http:localhost', 'http://localhost/'],
  ])('reads %j as %s', (address, href) => {
    expect(readBrowserAddress(address).href).toBe(href);
  });
});
