import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const OXLINT = join(ROOT, 'node_modules/oxlint/bin/oxlint');
const LONG = '  f();\n'.repeat(38);
const ENVIRONMENT = 'declare const process: { env: object };\nexport const a = process.env;\n';
/** One use of each kind, a line each. */
const TIME = `import { randomUUID } from 'node:crypto';
import { performance as meter } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import * as timers from 'node:timers';
export const now = Date.now();
export const today = new Date();
export const started = performance.now();
export const since = process.hrtime();
export const drawn = Math.random();
export const key = crypto.getRandomValues(new Uint8Array(1));
export const limit = AbortSignal.timeout(1);
setTimeout(print, 1);
setInterval(print, 1);
export const turn = new Promise(setImmediate);
globalThis.setTimeout(print, 1);
export default [randomUUID, meter, sleep, timers];
`;
const TIMELESS = `export { createHash } from 'node:crypto';
export const at = new Date(0);
export const end = (socket: { setTimeout(ms: number): void }): void => socket.setTimeout(1);
`;
const NODE = `declare const process: { exit(): never; hrtime(): number };
declare function setImmediate(act: () => void): void;
declare module 'node:*' {
  export const createHash: () => string;
  export const performance: object;
  export const randomUUID: () => string;
  export const setTimeout: () => void;
}
`;
const THROWN = `decodeURIComponent('%');
void JSON.parse('');
new URL('');
String.fromCodePoint(-1);
Object.freeze({});
export const part = decodeURIComponent('');
`;
const LIMIT = "it('ends', () => {}, 5);\nit.each([1])('ends', () => {}, 5);\njest.setTimeout(5);\n";

const injectable = (name: string): string =>
  `declare const Injectable: () => ClassDecorator;\n@Injectable()\nexport class ${name} {}\n`;

const depending = (name: string, count: number): string =>
  injectable(name).replace(
    '{}',
    `{\n  constructor(${Array.from({ length: count }, (_, n) => `readonly a${n}: Date`).join(', ')}) {}\n}`,
  );

/** Files for the linter, with the rules that it must report for each. */
const CASES: readonly (readonly [path: string, text: string, rules: readonly string[]])[] = [
  [
    'src/server/auth/order.ts',
    "import './a.js';\nimport 'pg';\nimport 'node:fs';\n",
    ['import-order', 'import-order'],
  ],
  [
    'src/server/auth/long.ts',
    `declare const d: () => () => void;\nexport class A {\n  @d()\n  m(f: () => void) {\n${LONG}  }\n}\n`,
    ['function-length'],
  ],
  ['src/server/auth/person.service.ts', injectable('Person'), ['injectable-role']],
  ['src/server/auth/person.ts', injectable('PersonService'), ['injectable-role']],
  ['src/server/auth/people.service.ts', injectable('PeopleService'), []],
  ['src/server/auth/clock.ts', injectable('Clock'), []],
  ['src/server/auth/six.service.ts', depending('SixService', 6), []],
  ['src/server/auth/seven.service.ts', depending('SevenService', 7), ['constructor-parameters']],
  ['src/server/auth/fits.ts', `export class A {\n  m(f: () => void) {\n${LONG}  }\n}\n`, []],
  ['src/server/auth/long.spec.ts', `export const f = (): void => {\n${LONG}${LONG}};\n`, []],
  ['src/server/auth/environment.ts', ENVIRONMENT, ['no-restricted-properties']],
  ['src/server/config/environment.ts', ENVIRONMENT, []],
  ['src/server/auth/fetch.ts', "export const a = fetch('x');\n", ['no-restricted-globals']],
  ['types/node.d.ts', NODE, []],
  ['src/server/auth/time.ts', TIME, Array.from({ length: 15 }, () => 'injected-time')],
  ['src/server/auth/timeless.ts', TIMELESS, []],
  ['src/server/auth/time.spec.ts', TIME, []],
  ['src/packages/client/time.ts', TIME, []],
  ['src/server/main.ts', 'setTimeout(() => process.exit(), 1);\n', []],
  ['src/common/runtime/clock.ts', TIMELESS, ['injected-time']],
  ['src/packages/client/fetch.ts', "export const a = fetch('x');\n", []],
  ['src/server/auth/sql.spec.ts', "import 'typeorm';\n", ['no-restricted-imports']],
  ['src/server/storage/sql.ts', "import 'typeorm';\n", []],
  ['test/limit.spec.ts', LIMIT, ['no-own-limit', 'no-own-limit', 'no-own-limit']],
  ['test/helpers/limit.ts', LIMIT, []],
  [
    'src/server/auth/what.ts',
    '/** What a caller sends. */\nexport const a = 1;\n',
    ['plain-comments'],
  ],
  [
    'src/server/auth/word.ts',
    '// The row lies beside the others.\nexport const a = 1;\n',
    ['plain-comments'],
  ],
  ['src/server/auth/plain.ts', '/** Rows of a page, newest first. */\nexport const a = 1;\n', []],
  ['test/title.spec.ts', "it('of another account is refused', () => {});\n", ['test-title']],
  [
    'test/template.spec.ts',
    'declare const n: number;\nit(`of ${n} accounts is refused`, () => {});\n',
    ['test-title'],
  ],
  ['test/plural.spec.ts', "it('are refused', () => {});\n", ['test-title']],
  ['test/titles.spec.ts', "it('refuses the token of another account', () => {});\n", []],
  ['src/server/auth/debugger.ts', 'debugger;\n', ['no-debugger']],
  [
    'src/server/auth/template.ts',
    "export const a = `${'a'}`;\n",
    ['no-unnecessary-template-expression'],
  ],
  [
    'src/server/auth/self.ts',
    'export const f = (a: number[]) => (a[0] = a[0]);\n',
    ['no-self-assign'],
  ],
  ['src/server/auth/twice.ts', 'export type A = { a: 1 } | { a: 1 };\n', ['no-duplicate-types']],
  [
    'src/server/auth/super.ts',
    "export class A extends JSON.parse('').X {}\n",
    ['no-member-superclass'],
  ],
  ['src/server/auth/thrown.ts', THROWN, Array.from({ length: 4 }, () => 'used-result')],
  ['src/server/auth/value.ts', 'const a = 1;\nexport type A = typeof a;\n', ['no-type-only-value']],
  [
    'tools/b.mjs',
    'export function f(g) {\n  try {\n    return 1;\n  } catch {\n    g();\n  }\n}\n',
    ['no-unreachable'],
  ],
  ['tools/c.mjs', 'export const f = (a = 1, b = 2) => b;\n', ['no-unused-default']],
  ['tools/d.mjs', 'setInterval(setTimeout);\n', ['no-undef']],
  ['src/server/auth/promise.spec.ts', 'Promise.resolve();\n', ['no-floating-promises']],
  ['src/server/auth/any.ts', "export const a = JSON.parse('1');\n", ['no-unsafe-assignment']],
  ['src/server/auth/any.spec.ts', "export const a = JSON.parse('1');\n", []],
  ['tsconfig.json', '{"compilerOptions":{"strict":true,"types":[]}}', []],
  ['tools/.hidden/e.mjs', 'debugger;\n', []],
  ['dist/f.mjs', 'debugger;\n', []],
];

interface Diagnostic {
  readonly filename: string;
  readonly code: string;
}

describe('the linter', () => {
  let folder: string;
  let diagnostics: readonly Diagnostic[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-lint-'));
    for (const name of ['.oxlintrc.json', 'tools/lint']) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    for (const [path, text] of CASES) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const { stdout } = spawnSync(
      process.execPath,
      [OXLINT, '--disable-nested-config', '--type-aware', '-f', 'json'],
      {
        cwd: folder,
        env: {
          ...process.env,
          OXLINT_TSGOLINT_PATH: join(ROOT, 'tools/node_modules/.bin/tsgolint'),
        },
        encoding: 'utf8',
      },
    );
    ({ diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] });
  });

  it.each(CASES)('reports the refused code of %s', (path, _, rules) => {
    const found = diagnostics.filter(({ filename }) => filename === path);
    expect(found.map(({ code }) => code.replace(/^.*\((.*)\)$/, '$1'))).toEqual(rules);
  });
});
