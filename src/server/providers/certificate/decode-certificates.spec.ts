import { createHash } from 'node:crypto';
import type { CertificateDecoder } from '../../../core/policy/certificate/forwarded-certificate.js';
import { decodeCertificates } from './decode-certificates.js';

/** Decoders do not parse the bytes. These produce `+`, `/` and padding in base64. */
const LEAF = Buffer.from([0x30, 0xfb, 0xef, 0xbe, 0xff, 0xff, 0x3f, 0x3e]);
const ISSUER = Buffer.from([0x30, 0x03, 0x02, 0x01, 0x07]);
const HASH = createHash('sha256').update(LEAF).digest('hex');

const b64 = (bytes: Buffer): string => bytes.toString('base64');
const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${b64(bytes)}\n-----END CERTIFICATE-----\n`;
const url = encodeURIComponent;

function decode(
  decoder: CertificateDecoder,
  text: string,
  more: { readonly chain?: string; readonly xfccElement?: 'only' | 'first' } = {},
): string[] | null {
  const encoded = { text, chain: null, xfccElement: 'only', ...more } as const;
  return decodeCertificates(decoder, encoded)?.map((der) => der.toString('hex')) ?? null;
}

const one = [LEAF.toString('hex')];
const two = [LEAF.toString('hex'), ISSUER.toString('hex')];

describe('url-pem', () => {
  it('reads the header of nginx and AWS, a plus sign unchanged', () => {
    expect(b64(LEAF)).toMatch(/[+/].*=$/);
    expect(decode('url-pem', url(pem(LEAF)))).toEqual(one);
    expect(decode('url-pem', url(pem(LEAF) + pem(ISSUER)))).toEqual(two);
    // AWS does not encode `+`, `=` and `/`.
    expect(decode('url-pem', pem(LEAF).replace(/[ \n]/g, url))).toEqual(one);
  });

  it.each([
    '',
    '%',
    '%zz',
    'certificate',
    url(pem(LEAF)).replace('%0A', '+'),
    url(`Subject: evil\n${pem(LEAF)}`),
    url(`${pem(LEAF)}evil`),
    url(pem(LEAF).replace('=', '')),
    url(pem(LEAF).replace('-----END', '!-----END')),
    url('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----'),
    url(pem(LEAF).replaceAll('CERTIFICATE', 'PRIVATE KEY')),
  ])('refuses %j', (text) => {
    expect(decode('url-pem', text)).toBeNull();
  });
});

describe('base64-der', () => {
  it('reads the header of Traefik, HAProxy and Caddy', () => {
    expect(decode('base64-der', b64(LEAF))).toEqual(one);
    expect(decode('base64-der', `${b64(LEAF)},${b64(ISSUER)}`)).toEqual(two);
    // Traefik 2.8 percent-encoded it.
    expect(decode('base64-der', url(`${b64(LEAF)},${b64(ISSUER)}`))).toEqual(two);
  });

  it.each([
    ['of the url-safe alphabet', LEAF.toString('base64url')],
    ['without padding', b64(LEAF).replace('=', '')],
    ['with garbage in front', `!${b64(LEAF)}`],
    ['with garbage behind', `${b64(LEAF)}!`],
    ['with a space inside', b64(LEAF).replace(/^(.{4})/, '$1 ')],
    ['with stray bits', b64(LEAF).replace(/.=$/, '9=')],
    ['with an empty entry', `${b64(LEAF)},`],
    ['in armor', pem(LEAF)],
    ['empty', ''],
  ])('refuses text %s', (_, text) => {
    expect(decode('base64-der', text)).toBeNull();
  });
});

describe('rfc9440', () => {
  const sequence = (bytes: Buffer): string => `:${b64(bytes)}:`;

  it('reads the field and its chain', () => {
    expect(decode('rfc9440', sequence(LEAF))).toEqual(one);
    expect(decode('rfc9440', sequence(LEAF), { chain: sequence(ISSUER) })).toEqual(two);
    const chain = `${sequence(ISSUER)}, ${sequence(LEAF)}`;
    expect(decode('rfc9440', sequence(LEAF), { chain })).toHaveLength(3);
  });

  it.each([
    b64(LEAF),
    `"${b64(LEAF)}"`,
    `${sequence(LEAF)}, ${sequence(ISSUER)}`,
    `${sequence(LEAF)};a=1`,
    `:${b64(LEAF).replace('=', '')}:`,
    '::',
    ':',
    '',
  ])('refuses %j', (text) => {
    expect(decode('rfc9440', text)).toBeNull();
  });

  it.each(['x', b64(ISSUER), `(${sequence(ISSUER)})`, `${sequence(ISSUER)},`])(
    'refuses the chain %j',
    (chain) => {
      expect(decode('rfc9440', sequence(LEAF), { chain })).toBeNull();
    },
  );
});

describe('xfcc', () => {
  const cert = `Cert="${url(pem(LEAF))}"`;
  const chain = `Chain="${url(pem(LEAF) + pem(ISSUER))}"`;
  // The example is from the documentation of Envoy, with a certificate.
  const documented =
    `By=http://frontend.lyft.com;Hash=${HASH};` +
    'Subject="/C=US/ST=CA/L=San Francisco/OU=Lyft/CN=Test Client";URI=http://testclient.lyft.com';

  it('reads the keys in any case and order, and keeps quoted values whole', () => {
    expect(decode('xfcc', `${documented};${cert}`)).toEqual(one);
    expect(decode('xfcc', `${cert};${chain}`)).toEqual(two);
    expect(decode('xfcc', `chain="${url(pem(LEAF) + pem(ISSUER))}"`)).toEqual(two);
    expect(decode('xfcc', `Subject="CN=\\"a\\",b;Cert=evil,Hash=00";${cert};DNS=a;DNS=b`)).toEqual(
      one,
    );
  });

  it('reads equals signs in the URIs that Envoy writes without quotes', () => {
    const bare = `By=spiffe://mesh/env=prod/sa=;URI=https://client.example/?id=1&sig=a==`;
    expect(decode('xfcc', `${bare};${cert}`)).toEqual(one);
    expect(decode('xfcc', `${cert};${bare}`)).toEqual(one);
    expect(decode('xfcc', `${cert};${bare},By==`, { xfccElement: 'first' })).toEqual(one);
    expect(decode('xfcc', `By=Cert=${cert.slice(5)}`)).toBeNull();
  });

  it('refuses several elements, unless the first one was selected', () => {
    const text = `${cert},By=spiffe://mesh;Hash=${HASH}`;
    expect(decode('xfcc', text)).toBeNull();
    expect(decode('xfcc', text, { xfccElement: 'first' })).toEqual(one);
    expect(decode('xfcc', `By=a,${cert}`, { xfccElement: 'first' })).toBeNull();
  });

  it.each([
    ['no certificate', documented],
    ['two certificates', `${cert};${cert}`],
    ['a hash of another', `Hash=${'0'.repeat(64)};${cert}`],
    ['a chain of another', `${cert};Chain="${url(pem(ISSUER))}"`],
    ['an open quote', `Subject="CN=a;${cert}`],
    ['text after a quote', `Subject="a"b;${cert}`],
    ['a quote inside a bare value', `By=a"b;${cert}`],
    ['a pair without a key', `=a;${cert}`],
    ['an empty pair', `;${cert}`],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(decode('xfcc', text)).toBeNull();
  });
});

describe('pem-spaces', () => {
  it('reads the line breaks of Apache', () => {
    expect(decode('pem-spaces', pem(LEAF).replaceAll('\n', ' '))).toEqual(one);
    expect(decode('pem-spaces', '(null)')).toBeNull();
    expect(decode('pem-spaces', url(pem(LEAF)))).toBeNull();
  });
});
