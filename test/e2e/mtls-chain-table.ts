import { TestAuthority } from '../fakes/certificates.js';
import {
  aboutIntermediate,
  aboutLeaf,
  aboutRoot,
  anchor,
  AUTHORITY,
  below,
  chain,
  directory,
  EXPIRED,
  FUTURE,
  issuing,
  own,
  root,
  RSA,
  SIGNS,
  stranger,
  UNKNOWN,
  type BuiltChain,
  type ChainRow,
} from './mtls-chain-world.js';

const CLIENT = 'clientAuth';
const POINTS = [
  'URI:http://crl.corp.example/a.crl',
  'URI:ldap:///CN=Acme%20CA%2CCN=CDP%2CDC=corp?certificateRevocationList?base',
];

const sound: readonly ChainRow[] = [
  { name: 'below an intermediate', flaw: null, build: aboutLeaf({}) },
  { name: 'below the root', flaw: null, build: () => chain(own(root)) },
  { name: 'unordered, with the root', flaw: null, build: () => chain(own(issuing), root, issuing) },
  {
    name: 'among unrelated certificates and twice',
    flaw: null,
    build: () => chain(own(issuing), stranger, own(root), issuing, issuing),
  },
  { name: 'usages on every level', flaw: null, build: aboutIntermediate({ usage: CLIENT }) },
  { name: 'no usages at all', flaw: null, build: aboutLeaf({ usage: null }) },
  { name: 'a root with usages', flaw: null, build: aboutRoot({ usage: CLIENT }) },
  { name: 'two usages', flaw: null, build: aboutLeaf({ usage: 'serverAuth,clientAuth' }) },
  {
    name: 'key agreement in place of signatures',
    flaw: null,
    build: aboutLeaf({ extensions: ['keyUsage=keyAgreement'] }),
  },
  {
    name: 'known extensions, all of them critical',
    flaw: null,
    build: aboutLeaf({
      usage: 'critical,clientAuth',
      extensions: [
        'keyUsage=critical,digitalSignature',
        'basicConstraints=critical,CA:FALSE',
        'certificatePolicies=critical,1.2.3.4',
        `crlDistributionPoints=critical,${POINTS.join()}`,
      ],
    }),
  },
  {
    name: 'an unknown extension that is not critical',
    flaw: null,
    build: aboutLeaf({ extensions: [UNKNOWN.replace('critical,', '')] }),
  },
  {
    name: 'a Netscape type for clients',
    flaw: null,
    build: aboutLeaf({ extensions: ['nsCertType=client,email'] }),
  },
  {
    name: 'policies on an authority',
    flaw: null,
    build: aboutIntermediate({
      extensions: [
        AUTHORITY,
        SIGNS,
        'certificatePolicies=1.2.3.4',
        'policyConstraints=critical,inhibitPolicyMapping:0',
        'inhibitAnyPolicy=critical,0',
      ],
    }),
  },
  {
    name: 'no subject, but a critical alternative name',
    flaw: null,
    build: aboutLeaf({
      subject: '/',
      names: [],
      extensions: ['subjectAltName=critical,email:alice@corp.example'],
    }),
  },
  {
    name: 'an authority that is a client itself',
    flaw: null,
    build: aboutLeaf({ extensions: [AUTHORITY, 'keyUsage=keyCertSign,digitalSignature'] }),
  },
  { name: 'RSA with 2048 bits', flaw: null, build: aboutIntermediate({ key: RSA(2048) }) },
  {
    name: 'RSASSA-PSS with SHA-256',
    flaw: null,
    build: () => {
      const middle = below(root, { key: RSA(2048) });
      return chain(own(middle, { signing: ['-sigopt', 'rsa_padding_mode:pss'] }), middle);
    },
  },
  {
    name: 'P-384',
    flaw: null,
    build: aboutIntermediate({ key: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384'] }),
  },
];

const times: readonly ChainRow[] = [
  { name: 'expired', flaw: 'expired', build: aboutLeaf(EXPIRED) },
  { name: 'expired intermediate', flaw: 'issuer-expired', build: aboutIntermediate(EXPIRED) },
  { name: 'expired root', flaw: 'issuer-expired', build: aboutRoot(EXPIRED) },
  { name: 'of tomorrow', flaw: 'not-yet-valid', build: aboutLeaf(FUTURE) },
  {
    name: 'intermediate of tomorrow',
    flaw: 'issuer-not-yet-valid',
    build: aboutIntermediate(FUTURE),
  },
  { name: 'root of tomorrow', flaw: 'issuer-not-yet-valid', build: aboutRoot(FUTURE) },
];

const usages: readonly ChainRow[] = [
  ...['serverAuth', 'emailProtection', 'anyExtendedKeyUsage'].flatMap((usage): ChainRow[] => [
    { name: `${usage} alone`, flaw: 'wrong-usage', build: aboutLeaf({ usage }) },
    {
      name: `an intermediate for ${usage} alone`,
      flaw: 'issuer-wrong-usage',
      build: aboutIntermediate({ usage }),
    },
    { name: `a root for ${usage} alone`, flaw: 'issuer-wrong-usage', build: aboutRoot({ usage }) },
  ]),
  {
    name: 'a key for encipherment alone',
    flaw: 'wrong-key-usage',
    build: aboutLeaf({ extensions: ['keyUsage=keyEncipherment'] }),
  },
  {
    name: 'a Netscape type for servers alone',
    flaw: 'wrong-usage',
    build: aboutLeaf({ extensions: ['nsCertType=server'] }),
  },
  ...['CA:FALSE', null].map((constraints): ChainRow => {
    const lines = constraints === null ? [] : [`basicConstraints=critical,${constraints}`];
    return {
      name: `a client that may sign certificates, and ${constraints ?? 'no constraints'}`,
      flaw: 'not-conforming',
      build: aboutLeaf({ extensions: [...lines, 'keyUsage=digitalSignature,keyCertSign'] }),
    };
  }),
  {
    name: 'an authority whose key may not sign certificates',
    flaw: 'issuer-wrong-key-usage',
    build: aboutIntermediate({ extensions: [AUTHORITY, 'keyUsage=digitalSignature'] }),
  },
  {
    name: 'a root whose key may not sign certificates',
    flaw: 'issuer-wrong-key-usage',
    build: aboutRoot({ extensions: [AUTHORITY, 'keyUsage=digitalSignature'] }),
  },
  {
    name: 'an authority without key usages',
    flaw: 'issuer-not-conforming',
    build: aboutIntermediate({ extensions: [AUTHORITY] }),
  },
  {
    name: 'a root without key usages',
    flaw: 'issuer-not-conforming',
    build: aboutRoot({ extensions: [AUTHORITY] }),
  },
];

const critical: readonly ChainRow[] = [
  {
    name: 'an unknown critical extension',
    flaw: 'unknown-critical-extension',
    build: aboutLeaf({ extensions: [UNKNOWN] }),
  },
  {
    name: 'an intermediate with an unknown critical extension',
    flaw: 'issuer-unknown-critical-extension',
    build: aboutIntermediate({ extensions: [AUTHORITY, SIGNS, UNKNOWN] }),
  },
  {
    name: 'a root with an unknown critical extension',
    flaw: 'issuer-unknown-critical-extension',
    build: aboutRoot({ extensions: [AUTHORITY, SIGNS, UNKNOWN] }),
  },
  {
    name: 'a critical extension that OpenSSL does not handle',
    flaw: 'unknown-critical-extension',
    build: aboutLeaf({ extensions: ['issuerAltName=critical,email:ca@corp.example'] }),
  },
  {
    name: 'a proxy certificate (RFC 3820)',
    flaw: 'unknown-critical-extension',
    build: aboutLeaf({
      names: [],
      extensions: ['proxyCertInfo=critical,language:id-ppl-anyLanguage,pathlen:0'],
    }),
  },
  {
    name: 'address blocks that the authority does not have (RFC 3779)',
    flaw: 'unsupported-extension',
    build: aboutLeaf({ extensions: ['sbgp-ipAddrBlock=IPv4:10.0.0.0/8'] }),
  },
];

const path = (...lengths: readonly (number | null)[]): BuiltChain => {
  const authorities = lengths.reduce<TestAuthority[]>((above, length) => {
    const constraints = length === null ? AUTHORITY : `${AUTHORITY},pathlen:${length}`;
    return [...above, below(above.at(-1) ?? root, { extensions: [constraints, SIGNS] })];
  }, []);
  const lowest = authorities.at(-1) ?? root;
  return chain(own(lowest), ...authorities);
};

const lengths: readonly ChainRow[] = [
  { name: 'one authority more, as allowed', flaw: null, build: () => path(1, 0) },
  { name: 'three, as allowed', flaw: null, build: () => path(null, 1, 0) },
  { name: 'one too many', flaw: 'issuer-path-too-long', build: () => path(0, null) },
  { name: 'one too many, higher up', flaw: 'issuer-path-too-long', build: () => path(1, null, 0) },
  {
    name: 'below a root of no authorities',
    flaw: 'issuer-path-too-long',
    build: aboutRoot({ extensions: [`${AUTHORITY},pathlen:0`, SIGNS] }),
  },
  {
    name: 'a new key of the same authority does not count',
    flaw: null,
    build: () => {
      const subject = '/O=Acme/CN=Rolling';
      const old = below(root, { subject, extensions: [`${AUTHORITY},pathlen:0`, SIGNS] });
      const renewed = below(old, { subject });
      return chain(own(renewed), renewed, old);
    },
  },
  {
    name: 'more certificates than anybody needs',
    flaw: 'chain-too-long',
    openssl: 'accepts',
    build: () => path(...Array<null>(10).fill(null)),
  },
];

const constrained = (constraints: string): readonly string[] => [
  AUTHORITY,
  SIGNS,
  `nameConstraints=critical,${constraints}`,
];

const names: readonly ChainRow[] = [
  {
    name: 'outside the permitted names',
    flaw: 'issuer-name-constraints',
    build: aboutIntermediate({ extensions: constrained('permitted;email:other.example') }),
  },
  {
    name: 'within excluded names',
    flaw: 'issuer-name-constraints',
    build: aboutIntermediate({ extensions: constrained('excluded;email:corp.example') }),
  },
  {
    name: 'outside the names of the root',
    flaw: 'issuer-name-constraints',
    build: aboutRoot({ extensions: constrained('permitted;email:other.example') }),
  },
  {
    name: 'within the permitted names',
    flaw: 'issuer-name-constraints',
    openssl: 'accepts',
    build: aboutIntermediate({ extensions: constrained('permitted;email:corp.example') }),
  },
  {
    name: 'an authority without a name',
    flaw: 'not-conforming',
    build: aboutIntermediate({ subject: '/' }),
  },
  { name: 'no name at all', flaw: 'not-conforming', build: aboutLeaf({ subject: '/', names: [] }) },
  {
    name: 'no subject, and an alternative name that is not critical',
    flaw: 'not-conforming',
    openssl: 'varies',
    build: aboutLeaf({ subject: '/' }),
  },
];

const pinned = (): TestAuthority => anchor({ extensions: ['basicConstraints=CA:FALSE'] });

const paths: readonly ChainRow[] = [
  { name: 'without its intermediate', flaw: 'not-trusted', build: () => chain(own(issuing)) },
  {
    name: 'with another intermediate',
    flaw: 'not-trusted',
    build: () => chain(own(issuing), below(root)),
  },
  {
    name: 'below an intermediate that is trusted by itself',
    flaw: null,
    build: () => ({ ...chain(own(issuing), issuing), anchors: [issuing] }),
  },
  {
    name: 'trusted by itself',
    flaw: null,
    build: () => {
      const leaf = own(issuing);
      return { ...chain(leaf, issuing), anchors: [leaf] };
    },
  },
  {
    name: 'self-signed and trusted',
    flaw: null,
    build: () => {
      const leaf = pinned();
      return { leaf, others: [], anchors: [leaf] };
    },
  },
  { name: 'self-signed', flaw: 'not-trusted', build: () => chain(pinned()) },
  { name: 'below a stranger', flaw: 'not-trusted', build: () => chain(own(stranger), stranger) },
  {
    name: 'below a root of the same name',
    flaw: 'not-trusted',
    build: () => {
      const mimic = anchor({ subject: '/O=Acme/CN=Acme Root' });
      return chain(own(mimic), mimic);
    },
  },
  {
    name: 'below one that is no authority',
    flaw: 'issuer-not-an-authority',
    build: aboutIntermediate({ extensions: ['basicConstraints=critical,CA:FALSE'] }),
  },
  {
    name: 'below one that does not say whether it is an authority',
    flaw: 'issuer-not-an-authority',
    build: aboutIntermediate({ extensions: [SIGNS] }),
  },
  ...[true, false].map((isOldFirst): ChainRow => ({
    name: `cross-signed, the path to ${isOldFirst ? 'a stranger' : 'the root'} first`,
    // OpenSSL tries one path, so this server does.
    flaw: isOldFirst ? 'not-trusted' : null,
    build: () => {
      const [old, current] = crossSigned();
      return chain(own(current), ...(isOldFirst ? [old, current] : [current, old]));
    },
  })),
  {
    name: 'cross-signed, the first path expired',
    flaw: null,
    build: () => {
      const [old, current] = crossSigned(EXPIRED);
      return chain(own(current), old, current);
    },
  },
  {
    name: 'authorities that signed each other',
    flaw: 'not-trusted',
    build: () => {
      const one = anchor({ subject: '/O=Acme/CN=One' });
      const two = anchor({ subject: '/O=Acme/CN=Two' });
      return chain(own(one), one.certify(two), two.certify(one));
    },
  },
];

/** The same authority below a stranger, and below the root. */
function crossSigned(
  dates: { from?: string; until?: string } = {},
): [TestAuthority, TestAuthority] {
  const current = below(root);
  return [TestAuthority.of(stranger.certify(current, dates), directory.path), current];
}

export const TABLE: readonly ChainRow[] = [
  ...sound,
  ...times,
  ...usages,
  ...critical,
  ...lengths,
  ...names,
  ...paths,
];
