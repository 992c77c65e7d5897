import { defineConfig } from 'vite';
import { packed } from '../../../../tools/build/packed.mjs';
import { thirdParty } from '../../../../tools/build/third-party.mjs';

/** The console for administrators: built apart, so that the public port has no file of it. */
export default defineConfig({
  root: import.meta.dirname,
  // The page says where it lies, which the server knows and a build does not.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    // Below the output of the account page, whose build empties it first.
    outDir: '../../../../dist/web/admin',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  plugins: [packed, thirdParty('THIRD-PARTY.txt')],
  // `vite src/apps/web/admin` while working on the console, with a server whose ADMIN_PORT is 3100.
  server: { proxy: { '/admin/v1': 'http://127.0.0.1:3100' } },
});
