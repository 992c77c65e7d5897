import fc from 'fast-check';
import { unicodeText } from '../../../../test/helpers/unicode-text.js';
import { returnLocation } from './return-location.js';

const ADDRESSES = [
  'https://app.example/oauth/okta',
  'http://127.0.0.1:3000/app/oauth/okta',
  'acme://okta',
  'acme:/oauth/okta',
  'https://app.example/base%20path/okta',
];

describe(returnLocation.name, () => {
  it.each(ADDRESSES)('adds the answer to %s and changes nothing else', (address) => {
    const location = returnLocation(address, { flow: 'auth', pending: 'p', mode: 'keyed' });
    expect(location).toBe(`${address}?flow=auth&pending=p&mode=keyed`);
  });

  it('keeps its address and one header line, for any values', () => {
    const hostile = fc.oneof(
      unicodeText(),
      fc.constantFrom('//evil.example', '\r\nset-cookie: a=b', '@evil.example', '#x', '&error=no'),
    );
    fc.assert(
      fc.property(fc.constantFrom(...ADDRESSES), hostile, (address, value) => {
        const location = returnLocation(address, { flow: 'auth', error: value });
        expect(location).toMatch(/^[\x21-\x7e]+$/);
        expect(location.startsWith(`${address}?flow=auth&error=`)).toBe(true);
        expect([...new URL(location).searchParams.keys()]).toEqual(['flow', 'error']);
        expect(new URL(location).hash).toBe('');
      }),
    );
  });
});
