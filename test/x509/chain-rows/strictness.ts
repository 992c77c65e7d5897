import {
  aboutIntermediate,
  aboutLeaf,
  aboutRoot,
  below,
  chain,
  own,
  root,
  RSA,
  SIGNS,
  type ChainRow,
} from '../chain-fixture.js';

const SHA1 = ['-md', 'sha1'];
const EXPLICIT = ['-pkeyopt', 'ec_param_enc:explicit'];
export const SKI = 'subjectKeyIdentifier=hash';
const AKI = 'authorityKeyIdentifier=keyid';
const [NO_SKI, NO_AKI] = ['subjectKeyIdentifier=none', 'authorityKeyIdentifier=none'];
/** A key identifier that no certificate of the suite has. */
export const OTHER_KEY = `301680141${'1'.repeat(39)}`;

export const STRENGTH: readonly ChainRow[] = [
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
      key: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...EXPLICIT, '-nodes'],
    }),
  },
];

export const KEY_IDS: readonly ChainRow[] = [
  {
    name: 'no key identifier above',
    flaw: null,
    build: aboutLeaf({ keyIds: [SKI, NO_AKI] }),
  },
  { name: 'no key identifier of its own', flaw: null, build: aboutLeaf({ keyIds: [NO_SKI, AKI] }) },
  {
    name: 'an intermediate without the key identifier above',
    flaw: null,
    build: aboutIntermediate({ keyIds: [SKI, NO_AKI] }),
  },
  {
    name: 'an intermediate without a key identifier',
    flaw: null,
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
      // A renewed certificate has the same name and key, and another serial number.
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

export const CONSTRAINTS: readonly ChainRow[] = [
  {
    name: 'constraints that are not critical',
    flaw: null,
    build: aboutIntermediate({ extensions: ['basicConstraints=CA:TRUE', SIGNS] }),
  },
  {
    name: 'a path length of a client',
    flaw: null,
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
    flaw: null,
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
