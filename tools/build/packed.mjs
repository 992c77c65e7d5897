import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Writes a compressed copy of each script and style, so that no request compresses. */
export const packed = {
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
            promisify(gzip)(source, { level: constants.Z_BEST_COMPRESSION }),
          ]);
          this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: br });
          this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gz });
        }
      }
    },
  },
};
