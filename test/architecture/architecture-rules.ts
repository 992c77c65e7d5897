import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  importsIn,
  subscriptionsInConstructors,
  wordsIn,
  type Import,
} from '../helpers/source-reader.js';

export interface SourceFile {
  /** A path relative to src, with slashes. */
  readonly path: string;
  readonly text: string;
}

interface Permission {
  /** A folder of src, or a file with its path. */
  readonly target: string;
  readonly isTypeOnly: boolean;
}

export type ImportTable = ReadonlyMap<string, readonly Permission[]>;

const ARCHITECTURE = join(import.meta.dirname, '../../docs/architecture.md');
/** Folders of the second table lie below it, and what `server` may import, each of them may. */
const SERVER = 'server/';
const PERMISSION = /^`([^`]+)`( \(types\))?$/;

/**
 * Reads the tables below `## Imports` of docs/architecture.md: of groups, and of the folders of the server.
 *
 * @throws Error at any other cell
 */
export function readImportTable(page: string): ImportTable {
  const section = /^## Imports$(.*?)(?=^## |(?![\s\S]))/ms.exec(page)?.[1] ?? '';
  const [groups = '', folders = ''] = section.split(/^### Inside the server$/m);
  return new Map([...readRows(groups, ''), ...readRows(folders, SERVER)]);
}

function readRows(text: string, above: string): [string, readonly Permission[]][] {
  const [, , ...rows] = text.match(/^\|.*\|$/gm) ?? [];
  return rows.flatMap((row) => {
    const [, folders = '', targets = ''] = row.split('|').map((cell) => cell.trim());
    const permissions = targets === 'nothing' ? [] : targets.split(', ').map(readPermission);
    const below = permissions.map((one) => ({ ...one, target: above + one.target }));
    return folders
      .split(', ')
      .map(readPermission)
      .map(({ target }): [string, readonly Permission[]] => [above + target, below]);
  });
}

function readPermission(cell: string): Permission {
  const [, target, types] = PERMISSION.exec(cell) ?? [];
  if (target === undefined) {
    throw new Error(`docs/architecture.md: "${cell}" is not a folder or a file in backticks.`);
  }
  return { target, isTypeOnly: types !== undefined };
}

const TABLE = readImportTable(readFileSync(ARCHITECTURE, 'utf8'));

/** Files outside the folders assemble the application and import any folder. */
const COMPOSITION_ROOT = [
  'server/main.ts',
  'server/create-app.ts',
  'server/check-configuration.ts',
  'server/log-settings.ts',
  'server/app.module.ts',
  'server/api-document.ts',
];

const PUBLIC_ENTRIES = ['client', 'guard', 'notify', 'webhooks'].map(
  (kit) => `packages/${kit}/index.ts`,
);

/** Packages that a folder must not import; a folder that is not listed may import any. */
const REFUSED_PACKAGES: Readonly<Record<string, RegExp>> = {
  'core/policy': /^/,
  'core/protocol': /^(?!@noble\/hashes\/|@scure\/)/,
  'core/x509': /^(?!@peculiar\/asn1-|node:(crypto|net|timers\/promises)$)/,
  'packages/notify': /^@nestjs\//,
  'packages/client': /^@nestjs\//,
  'packages/guard': /^(?!jose$|node:)/,
};

/** The last entry is for the define of a bundler, which replaces the exact expression. */
const ENVIRONMENT_READERS =
  /^(server\/config\/|(apps\/cli\/main|packages\/notify\/environment)\.ts$)/;
/** Time and chance stand in for globals of the language, and Nest documents global configuration. */
const MAY_BE_GLOBAL = ['common/runtime/runtime.module.ts', 'server/config/config.module.ts'];
const NAMELESS = /(^|[/.-])(utils?|helpers?|misc|shared)([/.-]|$)/;
const IMPURE_WORDS = ['process', 'Date.now', 'new Date()', 'Math.random', 'performance', 'fetch'];
/** Time and chance are arguments here. */
const PURE = /^core\//;
const TEST_FILE = /spec\.ts$/;
const MAX_LINES = 400;
const MAX_FILES_IN_FOLDER = 20;
/** The files are generated, so their length does not matter. */
const GENERATED = ['packages/client/api/api-types.ts', 'packages/client/api/admin-types.ts'];

/** Returns every violation of the import table and the file rules, as sentences. */
export function violationsIn(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const found = [...placeViolations(file)];
    for (const one of importsIn(file.text)) {
      found.push(...importViolations(file.path, one));
    }
    if (!TEST_FILE.test(file.path)) {
      found.push(...wordViolations(file));
    }
    return found.map((violation) => `${file.path}: ${violation}`);
  });
}

/** Permissions of the table that no file needs, as `folder: target`; values are more than types. */
export function unusedPermissions(files: readonly SourceFile[], table = TABLE): string[] {
  const imports = files
    .filter(({ path }) => !TEST_FILE.test(path))
    .flatMap(({ path, text }) =>
      importsIn(text).map(({ from, isTypeOnly }) => {
        return { folder: folderOf(path), target: resolveImport(path, from), isTypeOnly };
      }),
    );
  return [...table].flatMap(([folder, permissions]) => {
    const own = imports.filter((one) => one.folder !== null && isIn(one.folder, folder));
    const isUnused = (permission: Permission): boolean =>
      !own.some(
        ({ target, isTypeOnly }) =>
          covers(permission, target) && isTypeOnly === permission.isTypeOnly,
      );
    return permissions.filter(isUnused).map(({ target }) => `${folder}: ${target}`);
  });
}

/** Circles of imports that exist at run time, each as `a.ts > b.ts > a.ts`. */
export function importCircles(files: readonly SourceFile[]): string[] {
  return circlesOf(files, ({ isTypeOnly }) => !isTypeOnly);
}

/** Circles that include types. A command loads its work lazily, which has the type of its options. */
export function typeCircles(files: readonly SourceFile[]): string[] {
  return circlesOf(files, ({ isLazy }) => !isLazy);
}

function circlesOf(files: readonly SourceFile[], counts: (one: Import) => boolean): string[] {
  const edges = new Map(
    files.map(({ path, text }) => [
      path,
      importsIn(text)
        .filter((one) => one.from.startsWith('.') && counts(one))
        .map(({ from }) => resolveImport(path, from)),
    ]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      circles.push([...trail.slice(start), path].join(' > '));
    } else if (!done.has(path)) {
      edges.get(path)?.forEach((next) => walk(next, [...trail, path]));
      done.add(path);
    }
  };
  files.forEach(({ path }) => walk(path, []));
  return circles;
}

/** Folders that are flat lists of files. Specs do not count. */
export function crowdedFolders(files: readonly SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files.filter(({ path }) => !TEST_FILE.test(path))) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MAX_FILES_IN_FOLDER)
    .map(([folder, count]) => `${folder}: ${count} files`);
}

function* placeViolations({ path, text }: SourceFile): Generator<string> {
  if (folderOf(path) === null && !COMPOSITION_ROOT.includes(path)) {
    yield 'is in no folder of the table';
  }
  if (posix.basename(path) === 'index.ts' && !PUBLIC_ENTRIES.includes(path)) {
    yield 'is a barrel';
  }
  if (NAMELESS.test(path)) {
    yield 'has a meaningless name';
  }
  if (text.trimEnd().split('\n').length > MAX_LINES && !GENERATED.includes(path)) {
    yield `is longer than ${MAX_LINES} lines`;
  }
}

function* importViolations(path: string, { from, isTypeOnly, names }: Import): Generator<string> {
  const folder = folderOf(path);
  const isTest = TEST_FILE.test(path);
  if (!from.startsWith('.')) {
    if (!isTest && folder !== null && REFUSED_PACKAGES[folder]?.test(from)) {
      yield `imports ${from}, which ${folder} may not`;
    }
    if (/^typeorm(\/|$)/.test(from) && folder !== 'server/storage') {
      yield 'imports typeorm outside storage';
    }
    if (/^passport/.test(from) && !path.startsWith('server/providers/passport/')) {
      yield 'imports passport outside providers/passport';
    }
    if (folder === 'server/providers' && names.some((name) => name.endsWith('Exception'))) {
      yield 'knows HTTP exceptions';
    }
    if (/^(node:)?process$/.test(from) && !ENVIRONMENT_READERS.test(path)) {
      yield 'imports the process module';
    }
    return;
  }
  const target = resolveImport(path, from);
  if (target.startsWith('../')) {
    if (!isTest) {
      yield `imports ${from} from outside src`;
    }
    return;
  }
  if (/^server\/storage\/(entities|migrations)\//.test(target) && folder !== 'server/storage') {
    yield `imports ${target}, which never leaves storage`;
  }
  if (!mayImport(folder, target, isTypeOnly || isTest)) {
    yield `imports ${target}, which ${folder} may not`;
  }
  if (
    folder === 'server/config' &&
    from.startsWith('../') &&
    folderOf(target) === folder &&
    !isTest
  ) {
    const own = posix.dirname(path);
    if (own.startsWith(`${posix.dirname(target)}/`)) {
      yield `imports ${target}, which lies above ${own}`;
    }
  }
}

function mayImport(folder: string | null, target: string, isTypeOnly: boolean): boolean {
  return (
    folder === null ||
    folder === folderOf(target) ||
    permissionsOf(folder).some((one) => covers(one, target) && (isTypeOnly || !one.isTypeOnly))
  );
}

const permissionsOf = (folder: string): readonly Permission[] =>
  [...TABLE].flatMap(([name, permissions]) => (isIn(folder, name) ? permissions : []));

const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);

const covers = ({ target }: Permission, path: string): boolean => isIn(path, target);

function* wordViolations({ path, text }: SourceFile): Generator<string> {
  const words = wordsIn(text);
  if (words.has('forwardRef')) {
    yield 'uses forwardRef';
  }
  const isGlobal = words.has('Global') || words.has('isGlobal');
  const isGlobalModule = isGlobal || (path.endsWith('.module.ts') && words.has('global'));
  if (isGlobalModule && !MAY_BE_GLOBAL.includes(path)) {
    yield 'declares a global module';
  }
  yield* subscriptionsInConstructors(text).map((call) => `subscribes in a constructor: ${call}`);
  if (words.has('process.env') && !ENVIRONMENT_READERS.test(path)) {
    yield 'reads process.env';
  }
  if (PURE.test(path)) {
    yield* IMPURE_WORDS.filter((word) => words.has(word)).map((word) => `is not pure: ${word}`);
  }
}

function resolveImport(path: string, from: string): string {
  return posix.join(posix.dirname(path), from).replace(/\.js$/, '.ts');
}

/** The folder of a row. The row of the server is about its folders, not about the files that assemble it. */
function folderOf(path: string): string | null {
  const [group, name, ...below] = path.split('/');
  const folder = group === 'common' ? group : `${group}/${name}`;
  return (group === 'common' || below.length > 0) && TABLE.has(folder) ? folder : null;
}
