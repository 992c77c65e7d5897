import {
  aboutIntermediate,
  aboutLeaf,
  aboutRoot,
  AUTHORITY,
  SIGNS,
  UNKNOWN,
  type ChainRow,
} from '../chain-fixture.js';

export const USAGES: readonly ChainRow[] = [
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
      flaw: null,
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
    flaw: null,
    build: aboutIntermediate({ extensions: [AUTHORITY] }),
  },
  {
    name: 'a root without key usages',
    flaw: null,
    build: aboutRoot({ extensions: [AUTHORITY] }),
  },
  {
    name: 'a root without basic constraints',
    flaw: 'issuer-not-an-authority',
    openssl: 'accepts',
    build: aboutRoot({ extensions: [SIGNS] }),
  },
];

export const CRITICAL: readonly ChainRow[] = [
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
