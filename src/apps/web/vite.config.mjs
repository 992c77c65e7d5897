import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { defineConfig } from 'vite';
import { packed } from '../../../tools/build/packed.mjs';
import { thirdParty } from '../../../tools/build/third-party.mjs';

/** The service worker: one classic script, as not every browser runs modules as one. */
const worker = {
  name: 'worker',
  apply: 'build',
  async generateBundle() {
    const input = join(import.meta.dirname, 'worker/worker.ts');
    const bundle = await rolldown({ input, platform: 'browser' });
    const { output } = await bundle.generate({ format: 'iife', minify: true });
    await bundle.close();
    this.emitFile({ type: 'asset', fileName: 'worker.js', source: output[0].code });
  },
};

/** The server that a development build uses. */
const server = process.env.GATEHOUSE_SERVER ?? 'http://127.0.0.1:3000';

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // The page says where it lies, which the server knows and a build does not.
  base: command === 'build' ? './' : '/app/',
  // The first lets a development build (`npx vite src/apps/web`) register for notifications.
  envPrefix: ['CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION', 'CLIENT_PUBLIC_REQUEST_PREVIEWS'],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/web',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  plugins: [packed, worker, thirdParty('THIRD-PARTY.txt')],
  // `vite src/apps/web` serves the page at /app/ during development. The rest comes from a server.
  server: {
    proxy: {
      '/v1': { target: server, ws: true },
      '/v2': server,
      '/app/worker.js': server,
      '/app/manifest.webmanifest': server,
    },
  },
}));
