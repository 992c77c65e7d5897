import { posix } from 'node:path';
import { importsIn, wordsIn, type Import } from './source-reader.js';

export interface SourceFile {
  /** Relative to src, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Which rooms a room may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  policy: [],
  common: [],
  config: ['policy', 'common'],
  providers: ['policy', 'config', 'common'],
  storage: ['policy', 'config', 'common'],
  audit: ['policy', 'config', 'common', 'storage'],
  metrics: [],
  auth: ['policy', 'providers', 'storage', 'config', 'common', 'audit', 'metrics'],
  features: ['policy', 'auth', 'config', 'common'],
  'push-tokens': ['policy', 'storage', 'auth', 'updates', 'config', 'common', 'audit'],
  account: ['policy', 'storage', 'auth', 'updates', 'config', 'common', 'audit'],
  updates: ['policy', 'auth', 'config', 'common'],
  offboarding: ['policy', 'storage', 'auth', 'updates', 'config', 'common', 'audit', 'metrics'],
  health: ['storage', 'auth', 'updates', 'config', 'common', 'metrics'],
  tracing: ['config', 'common'],
  notify: ['policy', 'common', 'client'],
  webhooks: ['notify', 'policy', 'common'],
  client: ['policy', 'common', 'notify'],
  cli: ['notify', 'webhooks', 'client', 'config', 'storage', 'policy', 'common'],
  web: ['client', 'policy'],
};

/** Single files of another room that a room may import. */
const MAY_IMPORT_FILE: Readonly<Record<string, readonly string[]>> = {
  common: ['policy/decision.ts'],
  cli: ['main.ts'],
};

/** Files beside the rooms: they put the rooms together, so they import any of them. */
const COMPOSITION_ROOT = [
  'main.ts',
  'create-app.ts',
  'http-server.ts',
  'app.module.ts',
  'api-document.ts',
  'api-document-file.ts',
  'generate-api-document.ts',
];

/** What the package offers to other programs. */
const PUBLIC_ENTRIES = ['client/index.ts', 'notify/index.ts', 'webhooks/index.ts'];

/** Packages that a room must do without; a room that is not named is free. */
const REFUSED_PACKAGES: Readonly<Record<string, RegExp>> = {
  policy: /^(?!node:crypto$)/,
  notify: /^@nestjs\//,
  client: /^@nestjs\//,
};

const ENVIRONMENT_READERS = /^(config\/|cli\/main\.ts$)/;
const NAMELESS = /(^|[/.-])(utils?|helpers?|misc|shared)([/.-]|$)/;
const IMPURE_WORDS = ['process', 'Date.now', 'new Date()', 'Math.random', 'performance', 'fetch'];
const TEST_FILE = /\.(db-|e2e-)?spec\.ts$/;
const MAX_LINES = 400;
/** Written by a program, so nobody reads them from top to bottom. */
const GENERATED = ['client/api-types.ts'];

/** Every way in which these files break the rules of the house, in words. */
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

function* placeViolations({ path, text }: SourceFile): Generator<string> {
  if (roomOf(path) === null && !COMPOSITION_ROOT.includes(path)) {
    yield 'stands in no room of the table';
  }
  if (posix.basename(path) === 'index.ts' && !PUBLIC_ENTRIES.includes(path)) {
    yield 'is a barrel';
  }
  if (NAMELESS.test(path)) {
    yield 'has a name that says nothing';
  }
  if (text.trimEnd().split('\n').length > MAX_LINES && !GENERATED.includes(path)) {
    yield `is longer than ${MAX_LINES} lines`;
  }
}

function* importViolations(path: string, { from, isTypeOnly, names }: Import): Generator<string> {
  const room = roomOf(path);
  const isTest = TEST_FILE.test(path);
  if (!from.startsWith('.')) {
    if (!isTest && room !== null && REFUSED_PACKAGES[room]?.test(from)) {
      yield `imports ${from}, and ${room} does without it`;
    }
    if (/^typeorm(\/|$)/.test(from) && room !== 'storage') {
      yield 'imports typeorm outside storage';
    }
    if (room === 'providers' && names.some((name) => name.endsWith('Exception'))) {
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
  if (/^storage\/(entities|migrations)\//.test(target) && room !== 'storage') {
    yield `imports ${target}, which never leaves storage`;
  }
  if (!mayImport(room, target, isTypeOnly)) {
    yield `imports ${target}, which ${room} may not`;
  }
}

function mayImport(room: string | null, target: string, isTypeOnly: boolean): boolean {
  const targetRoom = roomOf(target);
  if (room === null || room === targetRoom) {
    return true;
  }
  if (targetRoom !== null && MAY_IMPORT[room]?.includes(targetRoom)) {
    return true;
  }
  const isFileAllowed = MAY_IMPORT_FILE[room]?.includes(target) ?? false;
  return isFileAllowed && (isTypeOnly || room !== 'common');
}

function* wordViolations({ path, text }: SourceFile): Generator<string> {
  const words = wordsIn(text);
  if (words.has('forwardRef')) {
    yield 'uses forwardRef';
  }
  if (words.has('process.env') && !ENVIRONMENT_READERS.test(path)) {
    yield 'reads process.env';
  }
  if (roomOf(path) === 'policy') {
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

function roomOf(path: string): string | null {
  const room = path.split('/')[0] ?? '';
  return path.includes('/') && Object.hasOwn(MAY_IMPORT, room) ? room : null;
}
