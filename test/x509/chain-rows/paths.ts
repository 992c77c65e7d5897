import { TestAuthority } from '../../fixtures/certificates-fixture.js';
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
  issuing,
  own,
  root,
  SIGNS,
  stranger,
  type BuiltChain,
  type ChainRow,
} from '../chain-fixture.js';

const path = (...lengths: readonly (number | null)[]): BuiltChain => {
  const authorities = lengths.reduce<TestAuthority[]>((above, length) => {
    const constraints = length === null ? AUTHORITY : `${AUTHORITY},pathlen:${length}`;
    return [...above, below(above.at(-1) ?? root, { extensions: [constraints, SIGNS] })];
  }, []);
  const lowest = authorities.at(-1) ?? root;
  return chain(own(lowest), ...authorities);
};

export const LENGTHS: readonly ChainRow[] = [
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
    name: 'too many certificates',
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

/** A section of the file of extensions. */
const OTHER_DIRECTORY = ['[other]', 'O=Other'];

export const NAMES: readonly ChainRow[] = [
  {
    name: 'outside the permitted names',
    flaw: 'name-constraints',
    build: aboutIntermediate({ extensions: constrained('permitted;email:other.example') }),
  },
  {
    name: 'within excluded names',
    flaw: 'name-constraints',
    build: aboutIntermediate({ extensions: constrained('excluded;email:corp.example') }),
  },
  {
    name: 'outside the names of the root',
    flaw: 'name-constraints',
    build: aboutRoot({ extensions: constrained('permitted;email:other.example') }),
  },
  {
    name: 'within the permitted names',
    flaw: null,
    build: aboutIntermediate({ extensions: constrained('permitted;email:corp.example') }),
  },
  {
    name: 'a self-issued authority outside the permitted names',
    flaw: null,
    build: () => {
      const subject = '/O=Acme/CN=Renewed';
      const extensions = constrained('permitted;dirName:other');
      const old = below(root, { subject, extensions: [...extensions, ...OTHER_DIRECTORY] });
      const renewed = below(old, { subject });
      return chain(own(renewed, { subject: '/O=Other/CN=Alice' }), renewed, old);
    },
  },
  {
    name: 'a self-issued client outside the permitted names',
    flaw: 'name-constraints',
    build: () => {
      const subject = '/O=Acme/CN=Renewed';
      const extensions = constrained('permitted;dirName:other');
      const old = below(root, { subject, extensions: [...extensions, ...OTHER_DIRECTORY] });
      return chain(own(old, { subject }), old);
    },
  },
  {
    name: 'an authority without a name',
    flaw: null,
    build: aboutIntermediate({ subject: '/' }),
  },
  { name: 'no name at all', flaw: null, build: aboutLeaf({ subject: '/', names: [] }) },
  {
    name: 'no subject, and an alternative name that is not critical',
    flaw: null,
    build: aboutLeaf({ subject: '/' }),
  },
];

const pinned = (): TestAuthority => anchor({ extensions: ['basicConstraints=CA:FALSE'] });

export const PATHS: readonly ChainRow[] = [
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
    // OpenSSL tries one path, and so does this server.
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

/** Creates the same authority below an unknown root and below the known root. */
function crossSigned(
  dates: { from?: string; until?: string } = {},
): [TestAuthority, TestAuthority] {
  const current = below(root);
  return [TestAuthority.of(stranger.certify(current, dates), directory), current];
}
