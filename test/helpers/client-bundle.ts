import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Bundle {
  /** A script that puts the kit into the global `gatehouse`. */
  readonly script: string;
  /** Every file in it. */
  readonly files: readonly string[];
  /** What it imports and does not hold. */
  readonly external: readonly string[];
}

/**
 * `@gatehouse/client` as a bundler for browsers makes it. What only Node has is left outside.
 *
 * @param input another module to bundle, from the root of the repository
 * @param names what an app imports of it; default: everything
 */
export async function bundleClient(
  input = 'src/client/index.ts',
  names: readonly string[] = [],
): Promise<Bundle> {
  const app = join(ROOT, 'app.ts');
  const source = `export { ${names.join(', ')} } from './${input}';`;
  const bundle = await rolldown({
    cwd: ROOT,
    input: names.length === 0 ? input : app,
    platform: 'browser',
    plugins: [
      {
        name: 'app',
        resolveId: (id) => (id === app ? id : null),
        load: (id) => (id === app ? source : null),
      },
    ],
    // `external` says it all.
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({
    format: 'iife',
    name: 'gatehouse',
    // The default is a regular expression, which the linker does not know when it is one of Jest's.
    sourcemapIgnoreList: false,
  });
  await bundle.close();
  const [{ code, moduleIds, imports }] = output;
  return {
    script: code,
    // What the linker adds of its own is no file.
    files: moduleIds.filter((id) => !id.startsWith('\0')).map((path) => relative(ROOT, path)),
    external: imports,
  };
}
