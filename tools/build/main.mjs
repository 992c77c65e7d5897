import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bringUpToDate } from './bring-up-to-date.mjs';

// node tools/build/main.mjs programs [database] [packages] [server-pool] [--force]
const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['src', 'package.json', 'package-lock.json', 'tsconfig.json', '.swcrc'];
const TOOLS = ['rolldown.config.mjs', 'tools/build'];

const DATABASE = [
  ...[
    'src/server/storage/migrations',
    'src/server/storage/data-source.ts',
    'tools/build/database.mjs',
  ],
  'node_modules/@electric-sql/pglite/package.json',
];

/** The servers of specs that try many configurations. */
const SERVER_POOL = 'test/fixtures/programs/server-pool-program.mjs';

// Vite links other files for development, with paths of the machine, and Jest sets the variable as well.
process.env.NODE_ENV = 'production';

// The compilers are loaded only for a build.
const TARGETS = {
  programs: {
    inputs: [...SOURCES, ...TOOLS],
    build: async (folders) => (await import('./programs.mjs')).buildPrograms(folders),
  },
  database: {
    inputs: DATABASE,
    build: async (folders) => (await import('./database.mjs')).buildDatabase(folders),
  },
  packages: {
    inputs: [...SOURCES, ...TOOLS, 'tools/packages', 'config', 'LICENSE'],
    // The packages contain all files of the folder.
    keptMs: 0,
    build: async (folders) => (await import('../packages/packages.mjs')).buildPackages(folders),
  },
  'server-pool': {
    inputs: [...SOURCES, ...TOOLS, SERVER_POOL],
    build: async (folders) =>
      (await import('./programs.mjs')).buildServerPool(SERVER_POOL, folders),
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { force: { type: 'boolean', default: false } },
});
try {
  for (const name of positionals) {
    await bringUpToDate(
      { root: ROOT, name, ...TARGETS[name] },
      { isForced: values.force, onBuild: () => process.stderr.write(`Building the ${name} …\n`) },
    );
  }
} catch (error) {
  // The output of the compiler locates the mistake.
  process.stderr.write(`${error.stdout ?? ''}${error.stderr ?? error.stack}\n`);
  process.exitCode = 1;
}
