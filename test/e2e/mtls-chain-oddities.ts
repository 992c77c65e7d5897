import { OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  Extension,
  id_ce_keyUsage,
  Version,
  type TBSCertificate,
} from '@peculiar/asn1-x509';
import { TestAuthority, type IssuedCertificate } from '../fakes/certificates.js';
import { crafted, withDer } from '../fakes/crafted-certificates.js';
import {
  aboutIntermediate,
  aboutLeaf,
  aboutRoot,
  below,
  chain,
  directory,
  issuing,
  own,
  root,
  RSA,
  SIGNS,
  type BuiltChain,
  type ChainRow,
} from './mtls-chain-world.js';

const SHA1 = ['-md', 'sha1'];
const EXPLICIT = ['-pkeyopt', 'ec_param_enc:explicit'];
const SKI = 'subjectKeyIdentifier=hash';
const AKI = 'authorityKeyIdentifier=keyid';
const [NO_SKI, NO_AKI] = ['subjectKeyIdentifier=none', 'authorityKeyIdentifier=none'];
const OTHER_KEY = `301680141${'1'.repeat(39)}`;

const strength: readonly ChainRow[] = [
  {
    name: 'SHA-1',
    flaw: 'weak-algorithm',
    openssl: 'accepts',
    build: aboutLeaf({ signing: SHA1 }),
  },
  {
    name: 'an intermediate signed with SHA-1',
    flaw: 'issuer-weak-algorithm',
    openssl: 'accepts',
    build: aboutIntermediate({ signing: SHA1 }),
  },
  { name: 'a root signed with SHA-1', flaw: null, build: aboutRoot({ signing: SHA1 }) },
  {
    name: 'RSASSA-PSS with SHA-1',
    flaw: 'weak-algorithm',
    openssl: 'accepts',
    build: () => {
      const middle = below(root, { key: RSA(2048) });
      const signing = [...SHA1, '-sigopt', 'rsa_padding_mode:pss'];
      return chain(own(middle, { signing }), middle);
    },
  },
  {
    name: 'RSA with 1024 bits',
    flaw: 'weak-algorithm',
    openssl: 'accepts',
    build: aboutLeaf({ key: RSA(1024) }),
  },
  {
    name: 'a root of RSA with 1024 bits',
    flaw: 'issuer-weak-algorithm',
    openssl: 'accepts',
    build: aboutRoot({ key: RSA(1024) }),
  },
  {
    name: 'a curve that is spelled out',
    flaw: 'weak-algorithm',
    build: aboutLeaf({
      key: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...EXPLICIT],
    }),
  },
];

const keyIds: readonly ChainRow[] = [
  {
    name: 'no key identifier above',
    flaw: 'not-conforming',
    build: aboutLeaf({ keyIds: [SKI, NO_AKI] }),
  },
  { name: 'no key identifier of its own', flaw: null, build: aboutLeaf({ keyIds: [NO_SKI, AKI] }) },
  {
    name: 'an intermediate without the key identifier above',
    flaw: 'issuer-not-conforming',
    build: aboutIntermediate({ keyIds: [SKI, NO_AKI] }),
  },
  {
    name: 'an intermediate without a key identifier',
    flaw: 'not-conforming',
    build: () => {
      const middle = below(root, { keyIds: [NO_SKI, AKI] });
      const keyIds = [SKI, 'authorityKeyIdentifier=issuer:always'];
      return chain(own(middle, { keyIds }), middle);
    },
  },
  {
    name: 'a root without a key identifier above',
    flaw: null,
    build: aboutRoot({ keyIds: [SKI, NO_AKI] }),
  },
  {
    name: 'the key identifier of another authority',
    flaw: 'not-trusted',
    build: aboutLeaf({ keyIds: [SKI, `authorityKeyIdentifier=DER:${OTHER_KEY}`] }),
  },
  {
    name: 'issuer and serial number of the authority',
    flaw: null,
    build: aboutLeaf({ keyIds: [SKI, 'authorityKeyIdentifier=keyid:always,issuer:always'] }),
  },
  {
    name: 'issuer and serial number of another authority',
    flaw: 'not-trusted',
    build: () => {
      // Renewed: the same name and key, and another serial number.
      const old = below(root);
      const renewed = root.certify(old);
      const keyIds = [SKI, 'authorityKeyIdentifier=keyid:always,issuer:always'];
      return chain(own(old, { keyIds }), renewed);
    },
  },
  ...['subjectKeyIdentifier=critical,hash', 'authorityKeyIdentifier=critical,keyid'].map(
    (line): ChainRow => ({
      name: line,
      flaw: 'unknown-critical-extension',
      openssl: 'varies',
      build: aboutLeaf({
        keyIds: [SKI, AKI].map((id) => (line.startsWith(id.slice(0, 9)) ? line : id)),
      }),
    }),
  ),
];

const constraints: readonly ChainRow[] = [
  {
    name: 'constraints that are not critical',
    flaw: 'issuer-not-conforming',
    openssl: 'varies',
    build: aboutIntermediate({ extensions: ['basicConstraints=CA:TRUE', SIGNS] }),
  },
  {
    name: 'a path length of a client',
    flaw: 'not-conforming',
    build: aboutLeaf({ extensions: ['basicConstraints=critical,CA:FALSE,pathlen:0'] }),
  },
  {
    name: 'a negative path length',
    flaw: 'issuer-not-conforming',
    build: aboutIntermediate({
      extensions: ['basicConstraints=critical,DER:30060101ff0201ff', SIGNS],
    }),
  },
  {
    name: 'key usages without a bit',
    flaw: 'wrong-key-usage',
    build: aboutLeaf({ extensions: ['keyUsage=critical,DER:03020700'] }),
  },
  {
    name: 'no usage in the list of usages',
    flaw: 'wrong-usage',
    build: aboutLeaf({ usage: null, extensions: ['extendedKeyUsage=DER:3000'] }),
  },
  {
    name: 'no name in the list of names',
    flaw: 'not-conforming',
    build: aboutLeaf({ names: [], extensions: ['subjectAltName=DER:3000'] }),
  },
  ...['keyUsage', 'basicConstraints', 'extendedKeyUsage', 'crlDistributionPoints'].map(
    (name): ChainRow => ({
      name: `${name} out of its grammar`,
      flaw: 'undecodable',
      build: aboutLeaf({ usage: null, extensions: [`${name}=DER:0500`] }),
    }),
  ),
];

const leafWith =
  (change: (contents: TBSCertificate, der: Buffer) => Buffer | void, request = {}) =>
  (): BuiltChain =>
    chain(crafted(issuing, own(issuing, request), change), issuing);

const authorityWith = (change: (contents: TBSCertificate) => void) => (): BuiltChain => {
  const middle = TestAuthority.of(crafted(root, below(root), change), directory.path);
  return chain(own(middle, { keyIds: [SKI, NO_AKI] }), middle);
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

const encodings: readonly ChainRow[] = [
  { name: 'version 1', flaw: null, build: leafWith(withoutExtensions) },
  {
    name: 'an authority of version 1',
    flaw: 'issuer-not-an-authority',
    build: authorityWith(withoutExtensions),
  },
  {
    name: 'extensions in version 1',
    flaw: 'not-conforming',
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
      // ECDSA with SHA-384; the signature is one with SHA-256 and says so.
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

export const ODDITIES: readonly ChainRow[] = [...strength, ...keyIds, ...constraints, ...encodings];
