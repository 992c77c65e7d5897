import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  crowdedFolders,
  importCircles,
  violationsIn,
  type SourceFile,
} from './helpers/architecture-rules.js';

const SRC = join(import.meta.dirname, '../src');

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

  it('has no folder of more than 20 files beside their specs', () => {
    expect(crowdedFolders(files)).toEqual([]);
  });

  it('has no files that import each other in a circle', () => {
    expect(importCircles(files)).toEqual([]);
  });
});

describe(violationsIn.name, () => {
  it.each([
    ['policy/a.ts', "import x from '../config/env.js';", 'config/env.ts, which policy may not'],
    ['policy/a.ts', "import x from 'lru-cache';", 'imports lru-cache, which policy may not'],
    ['policy/a.ts', "import { readFile } from 'node:fs';", 'imports node:fs'],
    ['policy/a.ts', 'const now = Date.now();', 'is not pure: Date.now'],
    ['policy/a.ts', 'const now = new Date();', 'is not pure: new Date()'],
    ['policy/a.ts', 'const dice = Math.random();', 'is not pure: Math.random'],
    ['policy/a.ts', 'export const id = process.pid;', 'is not pure: process'],
    ['common/a.ts', "import { x } from '../policy/decision.js';", 'which common may not'],
    ['config/a.ts', "export { x } from '../storage/a.js';", 'storage/a.ts, which config may not'],
    ['storage/a.ts', "const x = await import('../auth/a.js');", 'which storage may not'],
    ['storage/a.ts', "type X = import('../updates/a.js').X;", 'which storage may not'],
    ['auth/b/a.ts', "import { x } from '../../updates/a.js';", 'updates/a.ts, which auth may not'],
    [
      'auth/a.ts',
      "import type { X } from '../storage/entities/x.entity.js';",
      'never leaves storage',
    ],
    ['auth/a.ts', "import { DataSource } from 'typeorm';", 'imports typeorm outside storage'],
    ['auth/a.ts', 'const x = process.env.HOME;', 'reads process.env'],
    ['notify/a.ts', 'const x = process.env.NODE_ENV;', 'reads process.env'],
    ['auth/a.ts', "const x = process['env'].HOME;", 'reads process.env'],
    ['auth/a.ts', 'const { env } = process;', 'reads process.env'],
    ['auth/a.ts', "import { env } from 'node:process';", 'imports the process module'],
    ['auth/a.ts', "import { App } from '../create-app.js';", 'create-app.ts, which auth may not'],
    ['auth/a.ts', "import x from '../../package.json';", 'from outside src'],
    ['auth/a.module.ts', 'const x = forwardRef(() => X);', 'uses forwardRef'],
    ['features/a.ts', "import { x } from '../storage/a.js';", 'which features may not'],
    ['updates/a.ts', "import { x } from '../push-tokens/a.js';", 'which updates may not'],
    ['providers/a.ts', "import { HttpException } from '@nestjs/common';", 'HTTP exceptions'],
    [
      'providers/oidc/a.ts',
      "import passport from 'passport';",
      'passport outside providers/passport',
    ],
    ['client/a.ts', "import { Logger } from '@nestjs/common';", 'imports @nestjs/common'],
    ['notify/a.ts', "import { x } from '../storage/a.js';", 'which notify may not'],
    ['cli/a.ts', "import { x } from '../auth/a.js';", 'auth/a.ts, which cli may not'],
    ['auth/index.ts', '', 'is a barrel'],
    ['auth/token-utils.ts', '', 'has a meaningless name'],
    ['auth/helpers/a.ts', '', 'has a meaningless name'],
    ['billing/a.ts', '', 'is in no folder'],
    ['bootstrap.ts', '', 'is in no folder'],
    ['auth/a.ts', 'const x = 1;\n'.repeat(401), 'is longer than 400 lines'],
  ])('%s with %j', (path, text, violation) => {
    expect(violationsIn([{ path, text }])).toEqual([expect.stringContaining(violation)]);
  });

  it.each([
    ['common/a.ts', "import type { Decision } from '../policy/decision.js';"],
    ['config/a.ts', 'export const home = process.env.HOME;'],
    ['notify/environment.ts', 'export const mode = process.env.NODE_ENV;'],
    ['policy/a.ts', '/* Date.now() and process.env are not for policy */ const a = "Math.random";'],
    ['policy/a.spec.ts', "import fc from 'fast-check'; const now = Date.now();"],
    ['auth/a.spec.ts', "import { startApp } from '../../test/helpers/app.js';"],
    ['storage/a.ts', "import { DataSource } from 'typeorm';"],
    ['providers/passport/a.ts', "import passport from 'passport';"],
    ['app.module.ts', "import { AuthModule } from './auth/auth.module.js';"],
    ['client/index.ts', "export { connect } from './connect.js';"],
    ['auth/a.ts', 'const x = 1;\n'.repeat(400)],
  ])('finds nothing in %s with %j', (path, text) => {
    expect(violationsIn([{ path, text }])).toEqual([]);
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

  it('does not count types, which are gone at run time', () => {
    const types = { path: 'auth/b.ts', text: "import type { X } from './a.js';" };
    expect(importCircles([importing('auth/a.ts', './b.js'), types])).toEqual([]);
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
