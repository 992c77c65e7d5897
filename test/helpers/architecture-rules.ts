import { posix } from 'node:path';
import { importsIn, wordsIn, type Import } from './source-reader.js';

export interface SourceFile {
  /** Relative to src, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Which folders a folder may import besides itself (docs/architecture.md). */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  policy: [],
  common: [],
  metrics: ['common'],
  tracing: ['common'],
  config: ['policy', 'common'],
  providers: ['policy', 'config', 'common'],
  storage: ['policy', 'config', 'common'],
  audit: ['policy', 'config', 'common', 'storage'],
  auth: ['policy', 'storage', 'config', 'common', 'audit', 'metrics'],
  identities: ['auth', 'policy', 'providers', 'storage', 'config', 'common', 'audit'],
  login: [
    'identities',
    'auth',
    'policy',
    'providers',
    'storage',
    'config',
    'common',
    'audit',
    'metrics',
  ],
  offboarding: [
    'identities',
    'auth',
    'policy',
    'providers',
    'storage',
    'config',
    'common',
    'audit',
    'metrics',
  ],
  features: ['policy', 'auth', 'config', 'common'],
  'push-tokens': ['policy', 'storage', 'auth', 'updates', 'config', 'common', 'audit'],
  account: ['policy', 'storage', 'auth', 'updates', 'config', 'common', 'audit'],
  updates: ['policy', 'auth', 'config', 'common', 'metrics'],
  admin: [
    'identities',
    'auth',
    'offboarding',
    'policy',
    'providers',
    'storage',
    'config',
    'common',
    'audit',
    'metrics',
  ],
  health: ['storage', 'auth', 'updates', 'config', 'common', 'metrics'],
  notify: ['policy', 'common', 'client'],
  webhooks: ['notify', 'policy', 'common'],
  client: ['policy', 'common', 'notify'],
  cli: ['notify', 'webhooks', 'client', 'config', 'storage', 'policy', 'common'],
  web: ['client', 'notify', 'policy'],
};

/** Single files of another folder that a folder may import. */
const MAY_IMPORT_FILE: Readonly<Record<string, readonly string[]>> = {
  common: ['policy/decision.ts'],
  cli: ['main.ts', 'providers/provider-diagnosis.ts'],
};

/** Files beside the folders: they assemble the application, so they import any folder. */
const COMPOSITION_ROOT = ['main.ts', 'create-app.ts', 'app.module.ts', 'api-document.ts'];

/** The entries of the package. */
const PUBLIC_ENTRIES = ['client/index.ts', 'notify/index.ts', 'webhooks/index.ts'];

/** Packages that a folder must not import; a folder that is not listed may import any. */
const REFUSED_PACKAGES: Readonly<Record<string, RegExp>> = {
  policy: /^(?!node:crypto$)/,
  notify: /^@nestjs\//,
  client: /^@nestjs\//,
};

/** The last one for the sake of a bundler's define, which replaces the very expression. */
const ENVIRONMENT_READERS = /^(config\/|(cli\/main|notify\/environment)\.ts$)/;
const NAMELESS = /(^|[/.-])(utils?|helpers?|misc|shared)([/.-]|$)/;
const IMPURE_WORDS = ['process', 'Date.now', 'new Date()', 'Math.random', 'performance', 'fetch'];
const TEST_FILE = /\.(db-|e2e-)?spec\.ts$/;
const MAX_LINES = 400;
const MAX_FILES_IN_FOLDER = 20;
/** Generated, so their length does not matter. */
const GENERATED = ['client/api/api-types.ts', 'client/api/admin-types.ts'];

/** Every violation of the import table and the file rules, as sentences. */
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

/** Files that import each other in a circle, each circle as `a.ts > b.ts > a.ts`. */
export function importCircles(files: readonly SourceFile[]): string[] {
  const edges = new Map(files.map(({ path, text }) => [path, valueImportsOf(path, text)]));
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

/** Folders that are flat lists of files, specs aside. */
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
    if (/^typeorm(\/|$)/.test(from) && folder !== 'storage') {
      yield 'imports typeorm outside storage';
    }
    if (/^passport/.test(from) && !path.startsWith('providers/passport/')) {
      yield 'imports passport outside providers/passport';
    }
    if (folder === 'providers' && names.some((name) => name.endsWith('Exception'))) {
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
  if (/^storage\/(entities|migrations)\//.test(target) && folder !== 'storage') {
    yield `imports ${target}, which never leaves storage`;
  }
  if (!mayImport(folder, target, isTypeOnly)) {
    yield `imports ${target}, which ${folder} may not`;
  }
}

function mayImport(folder: string | null, target: string, isTypeOnly: boolean): boolean {
  const targetFolder = folderOf(target);
  if (folder === null || folder === targetFolder) {
    return true;
  }
  if (targetFolder !== null && MAY_IMPORT[folder]?.includes(targetFolder)) {
    return true;
  }
  const isFileAllowed = MAY_IMPORT_FILE[folder]?.includes(target) ?? false;
  return isFileAllowed && (isTypeOnly || folder !== 'common');
}

function* wordViolations({ path, text }: SourceFile): Generator<string> {
  const words = wordsIn(text);
  if (words.has('forwardRef')) {
    yield 'uses forwardRef';
  }
  if (words.has('process.env') && !ENVIRONMENT_READERS.test(path)) {
    yield 'reads process.env';
  }
  if (folderOf(path) === 'policy') {
    yield* IMPURE_WORDS.filter((word) => words.has(word)).map((word) => `is not pure: ${word}`);
  }
}

function valueImportsOf(path: string, text: string): string[] {
  return importsIn(text)
    .filter(({ from, isTypeOnly }) => from.startsWith('.') && !isTypeOnly)
    .map(({ from }) => resolveImport(path, from));
}

function resolveImport(path: string, from: string): string {
  return posix.join(posix.dirname(path), from).replace(/\.js$/, '.ts');
}

function folderOf(path: string): string | null {
  const folder = path.split('/')[0] ?? '';
  return path.includes('/') && Object.hasOwn(MAY_IMPORT, folder) ? folder : null;
}
