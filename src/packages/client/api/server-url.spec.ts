import fc from 'fast-check';
import { parseServerUrl, readServerAddressStrictly, serverAddressOf } from './server-url.js';

const strictly = (text: string): string | null => {
  const address = readServerAddressStrictly(text);
  return address === null ? null : `${address.origin}${address.path}`;
};

describe(parseServerUrl.name, () => {
  it.each([
    ['https://gate.example', 'https://gate.example'],
    ['HTTPS://Gate.Example:443/', 'https://gate.example'],
    ['http://gate.example:80/Base//', 'http://gate.example/Base'],
    ['https://gate.example:8443/a%20b/c', 'https://gate.example:8443/a%20b/c'],
    ['http://127.0.0.1:03000', 'http://127.0.0.1:3000'],
    ['http://localhost:', 'http://localhost'],
    ['http://[::1]:3000/', 'http://[::1]:3000'],
    ['http://[2001:DB8:0:0:1:0:0:1]', 'http://[2001:db8::1:0:0:1]'],
    ['http://[1:0:0:0:0:0:0:0]', 'http://[1::]'],
    ['http://[0:0:0:0:0:0:0:0]', 'http://[::]'],
    ['http://[1:0:2:0:0:3:0:4]', 'http://[1:0:2::3:0:4]'],
    ['https://xn--mller-kva.example', 'https://xn--mller-kva.example'],
  ])('reads %s, with URL and without', (text, expected) => {
    expect([parseServerUrl(text), strictly(text)]).toEqual([expected, expected]);
  });

  it.each([
    ...['', 'gate.example', 'https://', 'ftp://gate.example', 'javascript:alert(1)'],
    ...['https://gate.example?x=1', 'https://gate.example/#x', 'https://me@gate.example'],
    ...['https://me:word@gate.example', 'https://gate.example:99999', 'https://gate example'],
    ...[
      'http://1.2.3.256',
      'http://1.2.3.4.5',
      'http://[::1',
      'http://[1::2::3]',
      'http://[12345::]',
    ],
    ...['http://[1:2:3:4:5:6:7]', 'http://[1:2:3:4:5:6:7:8:9]', 'http://[1:2:3:4:5:6:7:8::]'],
  ])('refuses %j, with URL and without', (text) => {
    expect([parseServerUrl(text), strictly(text)]).toEqual([null, null]);
  });

  it.each(['http://127.1', 'http://0x7f.1', 'http://010.0.0.1', 'https://müller.example'])(
    'refuses %s without URL, because it would have to be resolved',
    (text) => {
      expect(parseServerUrl(text)).not.toBeNull();
      expect(strictly(text)).toBeNull();
    },
  );

  const part = (characters: string, maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...characters), maxLength });

  it('reads nothing differently without URL', () => {
    const host = fc.oneof(
      part('aZ09.-_', 12),
      fc.ipV6().map((address) => `[${address}]`),
      fc.ipV4(),
      part('0:1f', 20).map((address) => `[${address}]`),
      part('0123.x', 12),
    );
    const port = fc.oneof(
      fc.constant(''),
      part('0123456789', 6).map((digits) => `:${digits}`),
    );
    const path = part('/aZ.%2eE~:@\\?#;', 12);
    const text = fc
      .tuple(fc.constantFrom('http', 'https', 'HTTP'), host, port, path)
      .map(([scheme, name, at, rest]) => `${scheme}://${name}${at}${rest}`);
    fc.assert(
      fc.property(text, (address) => {
        const own = strictly(address);
        expect(own).toBe(own === null ? null : parseServerUrl(address));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe(serverAddressOf.name, () => {
  it('names an invalid address', () => {
    expect(() => serverAddressOf('gate')).toThrow('gate is not the address of a server.');
  });
});
