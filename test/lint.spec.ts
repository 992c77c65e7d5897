import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const OXLINT = join(ROOT, 'node_modules/oxlint/bin/oxlint');
const LONG = `${'  f();\n'.repeat(38)}`;
const ENVIRONMENT = 'declare const process: { env: object };\nexport const a = process.env;\n';
const LIMIT = "it('x', () => {}, 5);\nit.each([1])('x', () => {}, 5);\njest.setTimeout(5);\n";

/** Files that the linter reads, and the rules that it must report for each. */
const CASES: readonly (readonly [path: string, text: string, rules: readonly string[]])[] = [
  [
    'src/auth/order.ts',
    "import './a.js';\nimport 'pg';\nimport 'node:fs';\n",
    ['import-order', 'import-order'],
  ],
  [
    'src/auth/long.ts',
    `declare const d: () => () => void;\nexport class A {\n  @d()\n  m(f: () => void) {\n${LONG}  }\n}\n`,
    ['function-length'],
  ],
  ['src/auth/fits.ts', `export class A {\n  m(f: () => void) {\n${LONG}  }\n}\n`, []],
  ['src/auth/long.spec.ts', `export const f = (): void => {\n${LONG}${LONG}};\n`, []],
  ['src/auth/environment.ts', ENVIRONMENT, ['no-restricted-properties']],
  ['src/config/environment.ts', ENVIRONMENT, []],
  ['src/auth/fetch.ts', "export const a = fetch('x');\n", ['no-restricted-globals']],
  ['src/client/fetch.ts', "export const a = fetch('x');\n", []],
  ['src/auth/sql.spec.ts', "import 'typeorm';\n", ['no-restricted-imports']],
  ['src/storage/sql.ts', "import 'typeorm';\n", []],
  ['test/limit.spec.ts', LIMIT, ['no-own-limit', 'no-own-limit', 'no-own-limit']],
  ['test/helpers/limit.ts', LIMIT, []],
  ['src/auth/self.ts', 'export const f = (a: number[]) => (a[0] = a[0]);\n', ['no-self-assign']],
  ['src/auth/twice.ts', 'export type A = { a: 1 } | { a: 1 };\n', ['no-duplicate-types']],
  ['src/auth/super.ts', "export class A extends JSON.parse('').X {}\n", ['no-member-superclass']],
  ['src/auth/value.ts', 'const a = 1;\nexport type A = typeof a;\n', ['no-type-only-value']],
  [
    'tools/b.mjs',
    'export function f(g) {\n  try {\n    return 1;\n  } catch {\n    g();\n  }\n}\n',
    ['no-unreachable'],
  ],
  ['tools/c.mjs', 'export const f = (a = 1, b = 2) => b;\n', ['no-unused-default']],
  ['tools/d.mjs', 'setInterval(setTimeout);\n', ['no-undef']],
  ['src/auth/promise.spec.ts', 'Promise.resolve();\n', ['no-floating-promises']],
  ['src/auth/any.ts', "export const a = JSON.parse('1');\n", ['no-unsafe-assignment']],
  ['src/auth/any.spec.ts', "export const a = JSON.parse('1');\n", []],
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
      [OXLINT, '--disable-nested-config', '-f', 'json'],
      {
        cwd: folder,
        env: { ...process.env, OXLINT_TSGOLINT_PATH: join(ROOT, 'node_modules/.bin/tsgolint') },
        encoding: 'utf8',
      },
    );
    ({ diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] });
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(CASES)('reports of %s what is refused there', (path, _, rules) => {
    const found = diagnostics.filter(({ filename }) => filename === path);
    expect(found.map(({ code }) => code.replace(/^.*\((.*)\)$/, '$1'))).toEqual(rules);
  });
});
