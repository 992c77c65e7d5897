import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** The oldest that package.json allows. */
const RELEASES = ['20.20.0', '22.16.0', '24.11.0', '26.0.0'];
const FOLDERS = ['', 'bench', 'proof', 'proof/mutants', 'test', 'tools', 'tools/site'];

const { satisfies } = createRequire(import.meta.url)('semver') as {
  satisfies(version: string, range: string): boolean;
};

interface Locked {
  readonly resolved?: string;
  readonly deprecated?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
}

const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));
const locked = (folder: string): [path: string, entry: Locked][] =>
  Object.entries(
    (read(folder, 'package-lock.json') as { packages: Record<string, Locked> }).packages,
  );

const { allowScripts } = read('package.json') as {
  readonly allowScripts: Readonly<Record<string, boolean>>;
};

it.each(FOLDERS)('names no registry in "%s/package-lock.json"', (folder) => {
  const places = locked(folder).flatMap(([, { resolved }]) => resolved ?? []);
  expect(places.filter((place) => !place.startsWith('file:'))).toEqual([]);
});

it.each(FOLDERS)('locks what "%s/package.json" requires', (folder) => {
  const { dependencies } = read(folder, 'package.json') as Locked;
  expect(locked(folder)[0]?.[1].dependencies).toEqual(dependencies);
});

it.each(FOLDERS)('locks the packages of every platform in "%s/package-lock.json"', (folder) => {
  const paths = locked(folder);
  const names = new Set(paths.map(([path]) => path.replace(/^.*node_modules\//, '')));
  const optional = paths.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}));
  expect(optional.filter((name) => !names.has(name))).toEqual([]);
});

it.each(RELEASES)('installs no package that refuses Node %s', (release) => {
  const refusing = locked('').filter(
    ([, { engines }]) => !satisfies(release, engines?.node ?? '*'),
  );
  expect(refusing.map(([path]) => path)).toEqual([]);
});

it('installs no deprecated package', () => {
  expect(locked('').filter(([, { deprecated }]) => deprecated)).toEqual([]);
});

it('decides of each install script whether npm runs it', () => {
  const names = locked('')
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect(Object.keys(allowScripts).sort()).toEqual([...new Set(names)].sort());
});
