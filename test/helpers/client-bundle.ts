import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Bundle {
  /** A script that assigns the kit to the global `gatehouse`. */
  readonly script: string;
  readonly files: readonly string[];
  /** Imports that the bundle does not contain. */
  readonly external: readonly string[];
}

/**
 * `@gatehouse/client` as a bundler for browsers makes it, without what only Node has.
 * @param names what an app imports of it; default: everything
 */
export async function bundleClient(
  input = 'src/packages/client/index.ts',
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
    // The option `external` covers all of it.
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({
    format: 'iife',
    name: 'gatehouse',
    // The default is a regular expression, and the linker does not recognise one of the realm of
    // Jest.
    sourcemapIgnoreList: false,
  });
  await bundle.close();
  const [{ code, moduleIds, imports }] = output;
  return {
    script: code,
    // Modules that the linker adds are not files.
    files: moduleIds.filter((id) => !id.startsWith('\0')).map((path) => relative(ROOT, path)),
    external: imports,
  };
}
