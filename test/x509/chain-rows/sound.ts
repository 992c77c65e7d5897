import {
  aboutIntermediate,
  aboutLeaf,
  aboutRoot,
  AUTHORITY,
  below,
  chain,
  EXPIRED,
  FUTURE,
  issuing,
  own,
  root,
  RSA,
  SIGNS,
  stranger,
  UNKNOWN,
  type ChainRow,
} from '../chain-fixture.js';

const CLIENT = 'clientAuth';
const POINTS = [
  'URI:http://crl.corp.example/a.crl',
  'URI:ldap:///CN=Acme%20CA%2CCN=CDP%2CDC=corp?certificateRevocationList?base',
];

export const SOUND: readonly ChainRow[] = [
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
    build: aboutIntermediate({
      key: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', '-nodes'],
    }),
  },
];

export const TIMES: readonly ChainRow[] = [
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
