import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  crowdedFolders,
  importCircles,
  readImportTable,
  typeCircles,
  unusedPermissions,
  violationsIn,
  type SourceFile,
} from './architecture-rules.js';

const SRC = join(import.meta.dirname, '../../src');

const files: SourceFile[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({
    // An import names neither of the two endings.
    path: path.replaceAll('\\', '/').replace(/\.tsx$/, '.ts'),
    text: readFileSync(join(SRC, path), 'utf8'),
  }));

describe('the source', () => {
  it('follows the import table', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(violationsIn(files)).toEqual([]);
  });

  it('uses every permission of the import table', () => {
    expect(unusedPermissions(files)).toEqual([]);
  });

  it('has no folder of more than 20 files without their specs', () => {
    expect(crowdedFolders(files)).toEqual([]);
  });

  it('has no circular imports', () => {
    expect(importCircles(files)).toEqual([]);
  });

  it('has no circles of types', () => {
    expect(typeCircles(files.filter(({ path }) => !path.endsWith('.spec.ts')))).toEqual([]);
  });
});

describe(violationsIn.name, () => {
  it.each([
    [
      'core/policy/a.ts',
      "import x from '../../server/config/env.js';",
      'server/config/env.ts, which core/policy may not',
    ],
    [
      'core/policy/a.ts',
      "import x from 'lru-cache';",
      'imports lru-cache, which core/policy may not',
    ],
    ['core/policy/a.ts', "import { readFile } from 'node:fs';", 'imports node:fs'],
    ['core/policy/a.ts', 'const now = Date.now();', 'is not pure: Date.now'],
    ['core/policy/a.ts', 'const now = new Date();', 'is not pure: new Date()'],
    ['core/policy/a.ts', 'const dice = Math.random();', 'is not pure: Math.random'],
    ['core/policy/a.ts', 'export const id = process.pid;', 'is not pure: process'],
    ['common/a.ts', "import type { X } from '../core/policy/decision.js';", 'which common may not'],
    [
      'core/protocol/a.ts',
      "import { x } from '../policy/a.js';",
      'core/policy/a.ts, which core/protocol may not',
    ],
    ['core/protocol/a.ts', "import { createHash } from 'node:crypto';", 'imports node:crypto'],
    ['core/x509/a.ts', "import { Injectable } from '@nestjs/common';", 'imports @nestjs/common'],
    [
      'core/x509/a.ts',
      "import { x } from '../../server/config/a.js';",
      'server/config/a.ts, which core/x509 may not',
    ],
    ['core/x509/a.ts', 'const now = Date.now();', 'is not pure: Date.now'],
    [
      'packages/client/a.ts',
      "import type { X } from '../notify/a.js';",
      'packages/notify/a.ts, which packages/client may not',
    ],
    [
      'server/config/a.ts',
      "export { x } from '../storage/a.js';",
      'server/storage/a.ts, which server/config may not',
    ],
    [
      'server/config/b/a.ts',
      "import type { X } from '../a.js';",
      'which lies above server/config/b',
    ],
    [
      'server/storage/a.ts',
      "const x = await import('../auth/a.js');",
      'which server/storage may not',
    ],
    [
      'server/storage/a.ts',
      "type X = import('../updates/a.js').X;",
      'which server/storage may not',
    ],
    [
      'server/auth/b/a.ts',
      "import { x } from '../../updates/a.js';",
      'server/updates/a.ts, which server/auth may not',
    ],
    [
      'server/auth/a.ts',
      "import type { X } from '../storage/entities/x.entity.js';",
      'never leaves storage',
    ],
    [
      'server/auth/a.ts',
      "import { DataSource } from 'typeorm';",
      'imports typeorm outside storage',
    ],
    ['server/auth/a.ts', 'const x = process.env.HOME;', 'reads process.env'],
    ['packages/notify/a.ts', 'const x = process.env.NODE_ENV;', 'reads process.env'],
    ['server/auth/a.ts', "const x = process['env'].HOME;", 'reads process.env'],
    ['server/auth/a.ts', 'const { env } = process;', 'reads process.env'],
    ['server/auth/a.ts', "import { env } from 'node:process';", 'imports the process module'],
    [
      'server/auth/a.ts',
      "import { App } from '../create-app.js';",
      'server/create-app.ts, which server/auth may not',
    ],
    ['server/auth/a.ts', "import x from '../../../package.json';", 'from outside src'],
    ['server/auth/a.module.ts', 'const x = forwardRef(() => X);', 'uses forwardRef'],
    ['server/auth/a.module.ts', '@Global() @Module({}) class X {}', 'declares a global module'],
    [
      'server/auth/a.module.ts',
      'const x = { module: X, global: true };',
      'declares a global module',
    ],
    [
      'server/auth/a.ts',
      '@Injectable() class X { constructor(e: Events) { e.on("end", f); } }',
      'subscribes in a constructor: e.on',
    ],
    [
      'server/auth/a.ts',
      '@Injectable() class X { constructor(keys: Keys) { keys.onChange(f); } }',
      'subscribes in a constructor: keys.onChange',
    ],
    [
      'server/features/a.ts',
      "import { x } from '../storage/a.js';",
      'which server/features may not',
    ],
    [
      'server/updates/a.ts',
      "import { x } from '../push-tokens/a.js';",
      'which server/updates may not',
    ],
    ['server/providers/a.ts', "import { HttpException } from '@nestjs/common';", 'HTTP exceptions'],
    [
      'server/providers/oidc/a.ts',
      "import passport from 'passport';",
      'passport outside providers/passport',
    ],
    ['packages/client/a.ts', "import { Logger } from '@nestjs/common';", 'imports @nestjs/common'],
    [
      'packages/notify/a.ts',
      "import { x } from '../../server/storage/a.js';",
      'which packages/notify may not',
    ],
    [
      'apps/cli/a.ts',
      "import { x } from '../../server/auth/a.js';",
      'server/auth/a.ts, which apps/cli may not',
    ],
    ['server/auth/index.ts', '', 'is a barrel'],
    ['server/auth/token-utils.ts', '', 'has a meaningless name'],
    ['server/auth/helpers/a.ts', '', 'has a meaningless name'],
    ['billing/a.ts', '', 'is in no folder'],
    ['bootstrap.ts', '', 'is in no folder'],
    ['server/auth/a.ts', 'const x = 1;\n'.repeat(401), 'is longer than 400 lines'],
  ])('finds the violation in %s with %j', (path, text, violation) => {
    expect(violationsIn([{ path, text }])).toEqual([expect.stringContaining(violation)]);
  });

  it.each([
    ['core/protocol/a.ts', "import type { X } from '../policy/a.js';"],
    ['core/protocol/a.spec.ts', "import { x } from '../policy/a.js';"],
    ['core/x509/a.ts', "import { verify } from 'node:crypto';"],
    ['server/config/a.ts', 'export const home = process.env.HOME;'],
    ['server/config/b/a.ts', "import type { X } from '../c/a.js';"],
    ['server/config/b/a.spec.ts', "import { x } from '../a.js';"],
    ['packages/notify/environment.ts', 'export const mode = process.env.NODE_ENV;'],
    [
      'core/policy/a.ts',
      '/* Date.now() and process.env are not for policy */ const a = "Math.random";',
    ],
    ['core/policy/a.spec.ts', "import fc from 'fast-check'; const now = Date.now();"],
    ['server/auth/a.spec.ts', "import { startApp } from '../../../test/helpers/app.js';"],
    ['server/storage/a.ts', "import { DataSource } from 'typeorm';"],
    ['server/providers/passport/a.ts', "import passport from 'passport';"],
    ['common/runtime/runtime.module.ts', '@Global() @Module({}) export class RuntimeModule {}'],
    ['server/auth/a.ts', '@Injectable() class X { onModuleInit() { this.events.on("end", f); } }'],
    [
      'server/auth/a.ts',
      'class Connection { constructor(socket: Socket) { socket.on("end", f); } }',
    ],
    ['server/app.module.ts', "import { AuthModule } from './auth/auth.module.js';"],
    ['packages/client/index.ts', "export { connect } from './connect.js';"],
    ['server/auth/a.ts', 'const x = 1;\n'.repeat(400)],
  ])('finds nothing in %s with %j', (path, text) => {
    expect(violationsIn([{ path, text }])).toEqual([]);
  });
});

describe(readImportTable.name, () => {
  const page = (row: string): string =>
    `## Imports\n\n| folder | may import | never |\n| --- | --- | --- |\n${row}\n\n## Other\n\n| no | row | x |\n`;

  it('reads the permissions of every folder of a row', () => {
    const permissions = [
      { target: 'policy', isTypeOnly: true },
      { target: 'main.ts', isTypeOnly: false },
    ];
    const table = readImportTable(page('| `a`, `b` | `policy` (types), `main.ts` | prose |'));
    expect([...table]).toEqual([
      ['a', permissions],
      ['b', permissions],
    ]);
    expect([...readImportTable(page('| `a` | nothing | prose |'))]).toEqual([['a', []]]);
  });

  it('refuses a cell that is something else than names in backticks', () => {
    expect(() => readImportTable(page('| `a` | each other | prose |'))).toThrow('each other');
  });
});

describe(unusedPermissions.name, () => {
  const table = new Map([['server/auth', [{ target: 'core/policy', isTypeOnly: false }]]]);
  const file = (path: string, text: string): SourceFile => ({ path, text });

  it('names a permission that no import needs', () => {
    const types = file('server/auth/a.ts', "import type { X } from '../../core/policy/a.js';");
    const spec = file('server/auth/a.spec.ts', "import { x } from '../../core/policy/a.js';");
    expect(unusedPermissions([types, spec], table)).toEqual(['server/auth: core/policy']);
  });

  it('names none where an import needs it', () => {
    const value = file('server/auth/a.ts', "import { x } from '../../core/policy/a.js';");
    expect(unusedPermissions([value], table)).toEqual([]);
  });
});

describe(importCircles.name, () => {
  const importing = (path: string, from: string): SourceFile => ({
    path,
    text: `import { x } from '${from}';`,
  });

  it('names the files of a circle, and no others', () => {
    const circle = [importing('auth/a.ts', './b.js'), importing('auth/b.ts', '../auth/a.js')];
    expect(importCircles([importing('auth/c.ts', './a.js'), ...circle])).toEqual([
      'auth/a.ts > auth/b.ts > auth/a.ts',
    ]);
  });

  it('does not count types, which do not exist at run time', () => {
    const types = { path: 'auth/b.ts', text: "import type { X } from './a.js';" };
    expect(importCircles([importing('auth/a.ts', './b.js'), types])).toEqual([]);
  });
});

describe(typeCircles.name, () => {
  const types = { path: 'auth/a.ts', text: "import type { X } from './b.js';" };

  it('names a circle of types', () => {
    const back = { path: 'auth/b.ts', text: "import type { Y } from './a.js';" };
    expect(typeCircles([types, back])).toEqual(['auth/a.ts > auth/b.ts > auth/a.ts']);
  });

  it('does not count lazy imports', () => {
    const lazy = { path: 'auth/b.ts', text: "const load = () => import('./a.js');" };
    expect(typeCircles([types, lazy])).toEqual([]);
  });
});

describe(crowdedFolders.name, () => {
  it('names a folder with one file too many', () => {
    const folder = Array.from({ length: 21 }, (_, n) => ({ path: `auth/a${n}.ts`, text: '' }));
    const spec = { path: 'auth/a.spec.ts', text: '' };
    expect(crowdedFolders([...folder, spec])).toEqual(['auth: 21 files']);
    expect(crowdedFolders([...folder.slice(1), spec])).toEqual([]);
  });
});
