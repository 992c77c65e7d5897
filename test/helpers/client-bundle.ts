import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ENTRY = fileURLToPath(new URL('../../src/client/index.ts', import.meta.url));

export interface Bundle {
  /** A script that puts the kit into the global `gatehouse`. */
  readonly script: string;
  /** Every file in it. */
  readonly files: readonly string[];
  /** What it imports and does not hold. */
  readonly external: readonly string[];
}

/** `gatehouse/client` as a bundler for browsers makes it. Fails on what only Node has. */
export async function bundleClient(): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'gatehouse',
    logLevel: 'silent',
  });
  const inputs = Object.entries(metafile.inputs);
  return {
    script: outputFiles[0]?.text ?? '',
    files: inputs.map(([path]) => path),
    external: inputs.flatMap(([, { imports }]) =>
      imports.filter(({ external }) => external).map(({ path }) => path),
    ),
  };
}
