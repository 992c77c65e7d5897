import { chmod, rm } from 'node:fs/promises';
import { build } from 'esbuild';

const OUTPUT = 'dist/bin';

/** Optional parts that a library looks for and does without; nothing here uses them. */
const ABSENT = [
  '@fastify/multipart',
  '@fastify/view',
  '@nestjs/microservices*',
  '@nestjs/platform-express',
  'bufferutil',
  'pg-native',
  'utf-8-validate',
];

/** They read files of their own (some their package.json), have to run first, or serve one of these. */
const LEFT_ALONE = [
  '@electric-sql/pglite*',
  'expo-server-sdk',
  'ioredis',
  'reflect-metadata',
  'swagger-ui-dist',
  'undici',
];

// Links what `nest build` compiled: reading three thousand modules one by one takes longer than
// everything else a start does (docs/adr/0009-linked-programs.md).
await rm(OUTPUT, { recursive: true, force: true });
await build({
  entryPoints: {
    server: 'dist/main.js',
    gatehouse: 'dist/cli/main.js',
    'embedded-worker': 'dist/storage/embedded-worker.js',
  },
  outdir: OUTPUT,
  // Beside the programs: what is found from import.meta.url lies two folders up, as in dist.
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // The log names classes, and knows by their names whose lines to leave out.
  keepNames: true,
  external: [...ABSENT, ...LEFT_ALONE],
  // What is CommonJS asks for Node's own modules by require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod(`${OUTPUT}/gatehouse.js`, 0o755);
