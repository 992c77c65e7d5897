import { chmod, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { defineConfig } from 'rolldown';
import { RELEASE_BUILD } from './tools/build/release-build.mjs';
import { thirdParty } from './tools/build/third-party.mjs';

const COMMAND = 'gatehouse';

/** Optional parts that a library looks for and does without; nothing here uses them. */
const ABSENT = [
  '@fastify/multipart',
  '@fastify/view',
  /^@nestjs\/microservices/,
  '@nestjs/platform-express',
  'bufferutil',
  'pg-native',
  'utf-8-validate',
];

/**
 * Packages that stay packages: they read files of their own (some their package.json), have to run
 * first, serve one of these, or call functions of which Node warns outside `node_modules`. The
 * published package depends on them, and on nothing else.
 */
export const NOT_LINKED = [
  '@electric-sql/pglite',
  'ioredis',
  'passport-openidconnect',
  'reflect-metadata',
  'xmlhttprequest-ssl',
];

const SHEBANG = /^#!.*\n/;

/**
 * Starts a chunk, with V8's compiled code of earlier starts where this Node keeps it (22.1 and newer). The cache
 * lies next to the programs, so that only their owner writes code that they run.
 */
const launcherOf = (name, chunk) => `${name === COMMAND ? '#!/usr/bin/env node\n' : ''}\
import module from 'node:module';
import { join } from 'node:path';

module.enableCompileCache?.(join(import.meta.dirname, 'compile-cache'));
module.createRequire(import.meta.url)('./${chunk}');
`;

/** The files that are run. Each loads the chunk of its program, whose name changes with its content. */
const launchers = {
  name: 'launchers',
  renderChunk: (code, { isEntry }) => (isEntry ? code.replace(SHEBANG, '') : null),
  generateBundle(_options, bundle) {
    for (const { name, fileName } of Object.values(bundle).filter(({ isEntry }) => isEntry)) {
      this.emitFile({ type: 'asset', fileName: `${name}.js`, source: launcherOf(name, fileName) });
    }
  },
  /** A command that was linked once, by npx say, is still one after the next build. */
  writeBundle: async ({ dir }, bundle) => {
    if (`${COMMAND}.js` in bundle) {
      await chmod(join(dir, `${COMMAND}.js`), 0o755);
    }
  },
};

/**
 * @nestjs/typeorm looks for exports of TypeORM 0.3 by a `require` that the linker leaves alone: every start
 * would read the 370 files of TypeORM in addition to the linked ones.
 */
const oneTypeorm = {
  name: 'one-typeorm',
  transform: {
    filter: { id: /@nestjs\/typeorm\/dist\/common\/typeorm-compat\.js$/ },
    handler(code) {
      const requires = 'const require = createRequire(import.meta.url);';
      if (!code.includes(requires)) {
        this.error(
          '@nestjs/typeorm finds TypeORM in a new way: see whether it is still linked once',
        );
      }
      return `import * as typeorm from 'typeorm';\n${code.replace(requires, 'const require = () => typeorm;')}`;
    },
  },
};

/**
 * The SDK asks its own package.json for its version. As a package it would read another undici, file by file: a third
 * of what `gatehouse notify` takes.
 */
const linkedExpo = {
  name: 'linked-expo',
  transform: {
    filter: { id: /expo-server-sdk\/build\/ExpoClient\.js$/ },
    async handler(code, id) {
      const { version } = JSON.parse(await readFile(join(dirname(id), '../package.json'), 'utf8'));
      const changes = [
        ['const require = createRequire(import.meta.url);', ''],
        ["require('../package.json').version", JSON.stringify(version)],
      ];
      if (!changes.every(([from]) => code.includes(from)) || code.split('require(').length !== 2) {
        this.error('expo-server-sdk has changed: see what it reads');
      }
      return changes.reduce((text, [from, to]) => text.replace(from, to), code);
    },
  },
};

/**
 * class-validator brings the numbering plans of all countries for one decorator. Without it they are left
 * out, and a build with an import of `IsPhoneNumber` fails.
 */
const noPhoneNumbers = {
  name: 'no-phone-numbers',
  transform: {
    filter: { id: /class-validator\/esm2015\/decorator\/decorators\.js$/ },
    handler: (code) => code.replace("export * from './string/IsPhoneNumber';", ''),
  },
};

/**
 * V8 keeps a file with one character beyond Latin-1 in two bytes for each of its characters: 6 MiB of an idle server.
 * Escapes say the same in strings, templates, regular expressions and names.
 */
const onlyAscii = {
  name: 'only-ascii',
  renderChunk: (code) =>
    code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
};

// Links what SWC compiled, in its folder (tools/build/programs.mjs): reading three thousand modules one by one takes longer than
// everything else a start does (docs/adr/0009-linked-programs.md).
export default defineConfig({
  input: {
    server: 'server/main.js',
    gatehouse: 'apps/cli/main.js',
    'embedded-worker': 'server/storage/embedded/embedded-worker.js',
  },
  platform: 'node',
  // The linker takes decodeURIComponent and others for calls that never throw, and removes the checks that they are.
  treeshake: false,
  transform: { define: RELEASE_BUILD },
  external: [...ABSENT, ...NOT_LINKED.map((name) => new RegExp(`^${name}(/|$)`))],
  resolve: {
    // The ES modules of a package that has both: what is not imported is left out. With those for ES5, to read and check
    // a form takes up to half as long again as with those for ES2015.
    mainFields: ['es2015', 'module', 'main'],
  },
  plugins: [
    oneTypeorm,
    linkedExpo,
    noPhoneNumbers,
    launchers,
    onlyAscii,
    thirdParty('THIRD-PARTY.txt'),
  ],
  output: {
    dir: 'bin',
    // The default removes such calls as well.
    minify: false,
    // Linked libraries use `require` and `__dirname`.
    format: 'cjs',
    dynamicImportInCjs: false,
    entryFileNames: '[name]-[hash].cjs',
    // They would be a sixth of the programs; THIRD-PARTY.txt holds the licences.
    comments: false,
    // Chunks lie next to the programs: files found from import.meta.url are two folders up, as in dist.
    chunkFileNames: '[name]-[hash].cjs',
  },
});
