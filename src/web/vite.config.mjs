import { join } from 'node:path';
import { brotliCompress, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { defineConfig } from 'vite';
import { thirdParty } from '../../tools/build/third-party.mjs';

/** Beside each script and style a smaller copy for clients that accept one, so that no request compresses. */
const packed = {
  name: 'packed',
  enforce: 'post',
  generateBundle: {
    // After Vite's own plugins: they still replace parts of the code.
    order: 'post',
    async handler(_options, bundle) {
      for (const [fileName, part] of Object.entries(bundle)) {
        const source = Buffer.from(part.type === 'chunk' ? part.code : part.source);
        if (/^assets\/.*\.(js|css)$/.test(fileName)) {
          const [br, gz] = await Promise.all([
            promisify(brotliCompress)(source),
            promisify(gzip)(source),
          ]);
          this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: br });
          this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gz });
        }
      }
    },
  },
};

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

export default defineConfig({
  root: import.meta.dirname,
  // The page says where it lies, which the server knows and a build does not.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  plugins: [packed, worker, thirdParty('THIRD-PARTY.txt')],
  // `vite src/web` while working on the page, with a server beside it.
  server: {
    proxy: { '/v1': { target: 'http://127.0.0.1:3000', ws: true }, '/v2': 'http://127.0.0.1:3000' },
  },
});
