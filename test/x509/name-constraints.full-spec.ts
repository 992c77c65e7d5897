import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { der, pem } from '../fixtures/der.js';
import { SeededRandom } from '../fixtures/seeded-random.js';
import { validateChain } from '../../src/core/x509/certificate-chain.js';
import { parseCertificate } from '../../src/core/x509/parse-certificate.js';
import { certificateDirectory } from '../fixtures/certificates-fixture.js';
import {
  constrained,
  directory,
  dns,
  email,
  ip,
  other,
  registeredId,
  SMTP_UTF8_MAILBOX,
  UPN,
  uri,
  UTF8,
  type Attributes,
  type ConstrainedRequest,
} from './constrained-certificates.js';
import { ALICE, DECISIONS, FORMS, type Combination } from './name-constraint-rows.js';

const home = certificateDirectory();

const ROOT: Attributes = [['CN', 'Root']];
const root = constrained({ subject: ROOT, issuer: ROOT, constraints: null });
const pemOf = (certificate: Buffer): string => pem('CERTIFICATE', certificate);

/** Certificates by request, because the chains of a table share most of theirs. */
const certificates = new Map<string, Buffer>();
const parsed = new Map<Buffer, ReturnType<typeof parseCertificate>>();
const subjects = new Map<Buffer, string>();
/** Numbers of different constraints. */
const numbers = new Map<string, number>();
const SERIES = 10;

function certificate(request: ConstrainedRequest): Buffer {
  return computed(certificates, JSON.stringify(request), () => constrained(request));
}

function computed<Key, Value>(known: Map<Key, Value>, key: Key, compute: () => Value): Value {
  const value = known.get(key) ?? compute();
  known.set(key, value);
  return value;
}

/**
 * Names the authorities of a chain. One process judges many series, and the chains of one series share
 * the certificates of clients.
 */
function seriesOf(constraints: Combination['constraints']): number {
  const { size } = numbers;
  return computed(numbers, JSON.stringify(constraints), () => size) % SERIES;
}

/** A chain below the root, the client's own certificate first. */
function chainOf({ subject, names, constraints, authorityNames, series }: Combination): Buffer[] {
  let issuer = ROOT;
  const authorities = constraints.map((own, index) => {
    const name: Attributes = [
      ['O', 'Acme'],
      ['CN', `Authority ${index} ${series ?? seriesOf(constraints)}`],
    ];
    const isLowest = index === constraints.length - 1;
    const request = { subject: name, issuer, constraints: own };
    issuer = name;
    return certificate(
      isLowest && authorityNames !== undefined ? { ...request, names: authorityNames } : request,
    );
  });
  return [certificate({ subject, issuer, names }), ...authorities.reverse()];
}

/** The verdict of the library on each chain; null = accepted. */
function ours(chains: readonly (readonly Buffer[])[]): (string | null)[] {
  const parse = (one: Buffer) => computed(parsed, one, () => parseCertificate(one));
  const [anchor] = [root].map(parse).filter((one) => one !== null);
  return chains.map((chain) => {
    const sent = chain.map(parse).filter((one) => one !== null);
    if (anchor === undefined || sent.length < chain.length) {
      return 'undecodable';
    }
    const path = validateChain(sent, { anchors: [anchor], revocations: null }, Date.now());
    return typeof path === 'string' ? path : null;
  });
}

/** Authorities that one process knows: it searches the list of them from its start. */
const MOST_AUTHORITIES = 100;

/** Chains that one process judges: no two of their authorities have the same name. */
interface Batch {
  readonly authorities: Map<string, Buffer>;
  readonly leaves: Buffer[];
}

function theirs(chains: readonly (readonly Buffer[])[]): boolean[] {
  const batches: Batch[] = [];
  const places = chains.map(([leaf = root, ...above]) => {
    const named = above.map((one) => {
      const subject = computed(subjects, one, () => new X509Certificate(one).subject);
      return [subject, one] as const;
    });
    const fits = ({ authorities }: Batch): boolean =>
      named.every(([name, one]) => (authorities.get(name) ?? one) === one) &&
      authorities.size <= MOST_AUTHORITIES;
    const batch = batches.find(fits) ?? { authorities: new Map<string, Buffer>(), leaves: [] };
    batches.push(...(batches.includes(batch) ? [] : [batch]));
    named.forEach(([name, one]) => batch.authorities.set(name, one));
    return { batch, at: batch.leaves.push(leaf) - 1 };
  });
  const verdicts = new Map(batches.map((batch) => [batch, judgedTogether(batch)]));
  return places.map(({ batch, at }) => verdicts.get(batch)?.[at] === true);
}

function judgedTogether({ authorities, leaves }: Batch): boolean[] {
  const file = (name: string, contents: readonly Buffer[]): string => {
    writeFileSync(join(home, name), contents.map(pemOf).join(''));
    return join(home, name);
  };
  const paths = leaves.map((leaf, index) => file(`${index}.pem`, [leaf]));
  const above = file('above.pem', [...authorities.values()]);
  const { stdout, error } = spawnSync(
    'openssl',
    [
      ...['verify', '-purpose', 'sslclient', '-partial_chain', '-no-CApath', '-no-CAstore'],
      ...['-CAfile', file('root.pem', [root]), '-untrusted', above, ...paths],
    ],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  if (error !== undefined) {
    throw error;
  }
  const accepted = new Set(stdout.split('\n'));
  return paths.map((path) => accepted.has(`${path}: OK`));
}

function differences(combinations: readonly Combination[], kind: 'any' | 'looser'): string[] {
  const chains = combinations.map(chainOf);
  const [own, reference] = [ours(chains), theirs(chains)];
  expect(new Set(own).size).toBeGreaterThan(1);
  expect(new Set(reference).size).toBe(2);
  return combinations.flatMap(({ label }, index) => {
    const [accepts, openssl] = [own[index] === null, reference[index] === true];
    return accepts === openssl || (kind === 'looser' && !accepts)
      ? []
      : [`${label}: openssl ${openssl ? 'accepts' : 'refuses'}, ours ${String(own[index])}`];
  });
}

const byEach = <Item>(items: readonly Item[], make: (item: Item) => Combination[]): Combination[] =>
  items.flatMap(make);

describe('name constraints, compared with openssl verify', () => {
  it('decides as openssl does for every name and base of one form', () => {
    const combinations = FORMS.flatMap(({ names, bases }) =>
      byEach(names, (name) =>
        bases.flatMap((base) =>
          (['permitted', 'excluded'] as const).map((list) => ({
            label: `${name.label} ${list} ${base.label}`,
            // A permitted directory name applies to the subject, too: without one it is the name alone.
            subject: name.label.startsWith('dir:') ? [] : ALICE,
            names: [name],
            constraints: [{ [list]: [base] }],
          })),
        ),
      ),
    );
    expect(combinations.length).toBeGreaterThan(450);
    // `*.corp.example` may be the excluded host.
    const stricter =
      'dns:*.corp.example excluded dns:b.corp.example: openssl accepts, ours name-constraints';
    expect(differences(combinations, 'any')).toEqual([stricter]);
  });

  it('decides as openssl does for mixtures over two authorities', () => {
    const random = new SeededRandom(20_261_123);
    const some = <Item>(items: readonly Item[], most: number): Item[] =>
      Array.from(
        { length: random.below(most + 1) },
        () => items[random.below(items.length)],
      ).filter((item) => item !== undefined);
    const names = FORMS.flatMap((form) => form.names).filter(({ label }) => !label.includes('*'));
    const bases = FORMS.flatMap((form) => form.bases);
    const combinations = Array.from({ length: 600 }, (_, index): Combination => {
      const constraints = [0, 1].map(() => ({
        permitted: some(bases, 3),
        excluded: some(bases, 1),
      }));
      return {
        label: `${index} ${JSON.stringify(constraints, ['permitted', 'excluded', 'label'])}`,
        subject: ALICE,
        names: some(names, 3),
        constraints,
        series: index,
      };
    });
    expect(differences(combinations, 'any')).toEqual([]);
  });

  it('accepts no malformed name or base that openssl refuses', () => {
    const hosts = [
      '',
      '.',
      '..',
      'corp.example.',
      '.corp.example',
      'a b',
      'corp\0.example',
      'é.example',
    ];
    const names = [
      ...hosts.flatMap((host) => [dns(host), uri(`https://${host}/`), email(`alice@${host}`)]),
      ...['alice', '@corp.example', 'a@b@corp.example', 'alice@.corp.example'].map(email),
      ...[
        'corp.example',
        'mailto:a@corp.example',
        'https://a@corp.example/',
        'https://corp.example?a',
      ].map(uri),
      ...['https://corp.example/a:b', 'https://10.1.2.3/', 'https://[2001:db8::1]/', 'urn:x:y'].map(
        uri,
      ),
      { label: 'ip of 5 bytes', der: der(0x87, Buffer.alloc(5)) },
      other(UPN, 'alice@corp.example'),
      other(SMTP_UTF8_MAILBOX, 'alice@corp.example'),
      registeredId('2a0304'),
    ];
    const bases = [
      ...hosts.flatMap((host) => [dns(host), uri(host), email(host), email(`alice@${host}`)]),
      ...['corp.example', '.corp.example'].flatMap((host) => [dns(host), uri(host), email(host)]),
      ip('10.0.0.0/255.0.255.0'),
      { label: 'ip of 4 bytes', der: der(0x87, Buffer.alloc(4)) },
      other(UPN, 'corp.example'),
      registeredId('2a0304'),
    ];
    const combinations = byEach(names, (name) =>
      bases.flatMap((base) =>
        (['permitted', 'excluded'] as const).map((list) => ({
          label: `${JSON.stringify(name.label)} ${list} ${JSON.stringify(base.label)}`,
          subject: ALICE,
          names: [name],
          constraints: [{ [list]: [base] }],
        })),
      ),
    );
    expect(differences(combinations, 'looser')).toEqual([]);
  });

  it('decides as openssl does for names of the subject', () => {
    const subjects: readonly Attributes[] = [
      [['email', 'alice@corp.example']],
      [['email', 'alice@other.example']],
      [['email', 'alice@corp.example', UTF8]],
      [['CN', 'host.corp.example']],
      [['CN', 'host.other.example']],
      [['CN', 'host.corp.example\0']],
      [['CN', 'host\0.corp.example']],
      [['CN', 'corp']],
      [['CN', 'Alice of corp.example']],
      [['CN', '-host.corp.example']],
      [
        ['O', 'Acme'],
        ['CN', 'Alice'],
      ],
      [],
    ];
    const bases = [
      email('corp.example'),
      dns('corp.example'),
      directory(['O', 'Acme']),
      ip('::/::'),
    ];
    const combinations = byEach(subjects, (subject) =>
      bases.flatMap((base) =>
        (['permitted', 'excluded'] as const).flatMap((list) =>
          [[], [dns('host.corp.example')], [email('alice@corp.example')]].map((names) => ({
            label: `${JSON.stringify(subject)} ${names.map(({ label }) => label).join()} ${list} ${base.label}`,
            subject,
            names,
            constraints: [{ [list]: [base] }],
          })),
        ),
      ),
    );
    expect(differences(combinations, 'any')).toEqual([]);
  });
});

describe('name constraints', () => {
  it.each(DECISIONS)('decides as the row says about %s', (label, changes, flaw) => {
    const combination = {
      label,
      subject: ALICE,
      names: [email('alice@corp.example')],
      constraints: [],
      ...changes,
    };
    const chain = chainOf(combination);
    expect(ours([chain])).toEqual([flaw]);
    if (flaw === null) {
      expect(theirs([chain])).toEqual([true]);
    }
  });

  it('refuses a path that takes too many comparisons', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => dns(`host${index}.corp.example`));
    const chain = (count: number): Combination => ({
      label: String(count),
      subject: ALICE,
      names: many(count),
      constraints: [{ permitted: [dns('corp.example'), ...many(count)] }],
    });
    expect(ours([chainOf(chain(100)), chainOf(chain(400))])).toEqual([null, 'name-constraints']);
  });
});
