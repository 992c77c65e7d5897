import {
  BMP,
  directory,
  dns,
  email,
  ip,
  other,
  PRINTABLE,
  SMTP_UTF8_MAILBOX,
  UPN,
  uri,
  UTF8,
  type Attributes,
  type Constraints,
  type EncodedName,
} from './constrained-certificates.js';

export interface Combination {
  readonly label: string;
  readonly subject: Attributes;
  readonly names: readonly EncodedName[];
  /** The constraints of each authority, the upper one first. */
  readonly constraints: readonly Constraints[];
  /** Alternative names of the lower authority. */
  readonly authorityNames?: readonly EncodedName[];
  /** Part of the names of the authorities. Chains whose authorities have other names share a process. */
  readonly series?: number;
}

export const ALICE: Attributes = [
  ['O', 'Acme'],
  ['CN', 'Alice'],
];

export const FORMS: readonly { names: readonly EncodedName[]; bases: readonly EncodedName[] }[] = [
  {
    names: [
      'alice@corp.example',
      'Alice@CORP.example',
      'bob@corp.example',
      'alice@sub.corp.example',
      'alice@a.sub.corp.example',
      'alice@xcorp.example',
      'alice@example',
      '"a@b"@corp.example',
    ].map(email),
    bases: [
      'corp.example',
      'CORP.EXAMPLE',
      '.corp.example',
      'sub.corp.example',
      'alice@corp.example',
      'Alice@corp.example',
      'alice@CORP.example',
      'example',
      '.example',
    ].map(email),
  },
  {
    names: [
      'corp.example',
      'host.corp.example',
      'a.host.corp.example',
      'HOST.Corp.Example',
      'xcorp.example',
      'example',
      '*.corp.example',
    ].map(dns),
    bases: ['', 'corp.example', '.corp.example', 'b.corp.example', 'CORP.EXAMPLE', 'example'].map(
      dns,
    ),
  },
  {
    names: [
      'https://corp.example',
      'https://corp.example/',
      'https://corp.example:8443/a',
      'https://host.corp.example/a/b',
      'spiffe://corp.example/service',
      'https://xcorp.example/',
      'https://CORP.example/a?b',
    ].map(uri),
    bases: ['corp.example', '.corp.example', 'host.corp.example', '.example', 'CORP.EXAMPLE'].map(
      uri,
    ),
  },
  {
    names: ['10.1.2.3', '10.2.0.1', '192.0.2.1', '2001:db8::1', '2001:db8:1::1'].map(ip),
    bases: [
      '10.0.0.0/255.0.0.0',
      '10.1.0.0/255.255.0.0',
      '10.1.2.3/255.255.255.255',
      '0.0.0.0/0.0.0.0',
      '10.1.2.3/255.255.0.0',
      '2001:db8::/ffff:ffff::',
      '2001:db8:1::/ffff:ffff:ffff::',
      '::/::',
    ].map(ip),
  },
  {
    names: [
      directory(['O', 'Acme'], ['OU', 'People'], ['CN', 'Alice']),
      directory(['O', 'ACME'], ['OU', ' people ']),
      directory(['O', 'Acme', PRINTABLE], ['OU', 'Pe  ople']),
      directory(['O', 'Acme', BMP], ['OU', 'People', BMP]),
      directory(['O', 'Acmé'], ['CN', 'Alice']),
      directory(['O', 'ACMÉ'], ['CN', 'Alice']),
      directory(['CN', 'Alice'], ['O', 'Acme']),
      directory(['DC', 'example'], ['DC', 'corp']),
    ],
    bases: [
      directory(),
      directory(['O', 'Acme']),
      directory(['O', 'acme', UTF8], ['OU', 'PEOPLE']),
      directory(['O', 'Acme'], ['OU', 'Pe ople']),
      directory(['O', 'Acmé']),
      directory(['CN', 'Alice']),
      directory(['DC', 'EXAMPLE']),
    ],
  },
];

const bounded = { ...email('corp.example'), label: 'bounded' };
/** Constraints with the flaw that they give; null = accepted. */
export const DECISIONS: readonly (readonly [string, Partial<Combination>, string | null])[] = [
  [
    'an address that the upper authority does not permit',
    {
      constraints: [
        { permitted: [email('other.example')] },
        { permitted: [email('corp.example')] },
      ],
    },
    'name-constraints',
  ],
  [
    'an address that the upper authority excludes',
    { constraints: [{ excluded: [email('.example')] }, { permitted: [email('corp.example')] }] },
    'name-constraints',
  ],
  [
    'an address that both authorities permit',
    {
      constraints: [
        { permitted: [email('corp.example')] },
        { permitted: [email('alice@corp.example')] },
      ],
    },
    null,
  ],
  [
    'one of two addresses that is not permitted',
    {
      names: [email('alice@corp.example'), email('alice@other.example')],
      constraints: [{ permitted: [email('corp.example')] }],
    },
    'name-constraints',
  ],
  [
    'a form that no authority constrains',
    { constraints: [{ permitted: [dns('corp.example')] }] },
    null,
  ],
  [
    'an intermediate authority whose own name is not permitted',
    {
      authorityNames: [dns('ca.other.example')],
      constraints: [{ permitted: [dns('corp.example')] }, {}],
    },
    'issuer-name-constraints',
  ],
  [
    'an intermediate authority whose own name is permitted',
    {
      authorityNames: [dns('ca.corp.example')],
      constraints: [{ permitted: [dns('corp.example')] }, {}],
    },
    null,
  ],
  [
    'a subject outside the permitted directory',
    { constraints: [{ permitted: [directory(['O', 'Other'])] }] },
    'name-constraints',
  ],
  [
    'a minimum of one',
    { constraints: [{ excluded: [{ ...bounded, bounds: Buffer.of(0x80, 1, 1) }] }] },
    'name-constraints',
  ],
  [
    'a maximum',
    { constraints: [{ permitted: [{ ...bounded, bounds: Buffer.of(0x81, 1, 9) }] }] },
    'name-constraints',
  ],
  [
    'a minimum of zero',
    { constraints: [{ permitted: [{ ...bounded, bounds: Buffer.of(0x80, 1, 0) }] }] },
    null,
  ],
  [
    'a user principal name where such names are constrained',
    {
      names: [other(UPN, 'alice@corp.example')],
      constraints: [{ permitted: [other(UPN, 'corp.example')] }],
    },
    'name-constraints',
  ],
  [
    'a user principal name where another type is constrained',
    {
      names: [other(UPN, 'alice@corp.example')],
      constraints: [{ permitted: [other('2a0304', 'x')] }],
    },
    null,
  ],
  [
    'an internationalized address where addresses are constrained',
    {
      names: [other(SMTP_UTF8_MAILBOX, 'alice@corp.example')],
      constraints: [{ permitted: [email('corp.example')] }],
    },
    'name-constraints',
  ],
];
