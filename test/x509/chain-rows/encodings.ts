import { OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  Extension,
  id_ce_keyUsage,
  Version,
  type TBSCertificate,
} from '@peculiar/asn1-x509';
import { TestAuthority, type IssuedCertificate } from '../../fixtures/certificates-fixture.js';
import { crafted, withDer } from '../crafted-certificates.js';
import { OTHER_KEY, SKI } from './strictness.js';
import {
  below,
  chain,
  directory,
  issuing,
  own,
  root,
  type BuiltChain,
  type ChainRow,
} from '../chain-fixture.js';

const leafWith =
  (change: (contents: TBSCertificate, der: Buffer) => Buffer | void, request = {}) =>
  (): BuiltChain =>
    chain(crafted(issuing, own(issuing, request), change), issuing);

const authorityWith = (change: (contents: TBSCertificate) => void) => (): BuiltChain => {
  const middle = TestAuthority.of(crafted(root, below(root), change), directory);
  return chain(own(middle, { keyIds: [SKI, `authorityKeyIdentifier=DER:${OTHER_KEY}`] }), middle);
};

const withoutExtensions = (contents: TBSCertificate): void => {
  contents.version = Version.v1;
  delete contents.extensions;
};

const unknown = (): Extension =>
  new Extension({
    extnID: '1.3.6.1.4.1.32473.2',
    extnValue: new OctetString(Buffer.from('0500', 'hex')),
  });

export const ENCODINGS: readonly ChainRow[] = [
  { name: 'version 1', flaw: null, build: leafWith(withoutExtensions) },
  {
    name: 'an authority of version 1',
    flaw: 'issuer-not-an-authority',
    build: authorityWith(withoutExtensions),
  },
  {
    name: 'extensions in version 1',
    flaw: 'not-conforming',
    openssl: 'accepts',
    build: leafWith((contents) => {
      contents.version = Version.v1;
    }),
  },
  {
    name: 'key usages twice',
    flaw: 'undecodable',
    build: leafWith(
      ({ extensions }) => {
        extensions?.push(...extensions.filter(({ extnID }) => extnID === id_ce_keyUsage));
      },
      { extensions: ['keyUsage=digitalSignature'] },
    ),
  },
  {
    name: 'an unknown extension twice',
    flaw: 'undecodable',
    openssl: 'varies',
    build: leafWith(({ extensions }) => {
      extensions?.push(unknown(), unknown());
    }),
  },
  ...['00', 'ff', '8000000000000000000000000000000000000000', '01'.repeat(30)].map(
    (serial): ChainRow => ({
      name: `the serial number ${serial}`,
      flaw: null,
      build: leafWith((contents) => {
        contents.serialNumber = new Uint8Array(Buffer.from(serial, 'hex')).buffer;
      }),
    }),
  ),
  {
    name: 'two algorithms of one signature',
    flaw: 'bad-signature',
    build: leafWith((contents) => {
      // The algorithm is ECDSA with SHA-384, and the signature is one with SHA-256.
      contents.signature = new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.3' });
    }),
  },
  {
    name: 'a date with an offset',
    flaw: 'undecodable',
    build: leafWith(
      (_, der) => replaced(der, '\x18\x0f20550101000000Z', '\x17\x0f4901010000+0000'),
      {
        until: '20550101000000Z',
      },
    ),
  },
  {
    name: 'a date that could have been shorter',
    flaw: null,
    build: leafWith((_, der) => replaced(der, '20550101000000Z', '20480101000000Z'), {
      until: '20550101000000Z',
    }),
  },
  {
    name: 'the issuer in other letters',
    flaw: null,
    build: leafWith((_, der) => replaced(der, 'Acme Issuing CA', 'ACME issuing ca')),
  },
  { name: 'one byte changed', flaw: 'bad-signature', build: () => tampered(own(issuing)) },
  {
    name: 'the key of another authority',
    flaw: 'bad-signature',
    build: () =>
      chain(
        crafted(root, own(issuing), () => undefined),
        issuing,
      ),
  },
  {
    name: 'bytes behind the certificate',
    flaw: 'undecodable',
    openssl: 'accepts',
    build: () => {
      const leaf = own(issuing);
      return chain(withDer(leaf, Buffer.concat([leaf.der, Buffer.of(0x05, 0x00)])), issuing);
    },
  },
];

function tampered(leaf: IssuedCertificate): BuiltChain {
  return chain(withDer(leaf, replaced(leaf.der, 'alice@corp', 'alicf@corp')), issuing);
}

function replaced(der: Buffer, from: string, to: string): Buffer {
  const at = der.indexOf(from, 'latin1');
  const changed = Buffer.from(der);
  if (at === -1 || changed.write(to, at, 'latin1') !== from.length) {
    throw new Error(`There is no ${JSON.stringify(from)} to replace.`);
  }
  return changed;
}
