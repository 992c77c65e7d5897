import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Manifest } from './render.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const PACKAGES: readonly (readonly [RegExp, string])[] = [
  [/^gateway\.networking\.k8s\.io\//, '@kubernetes-models/gateway-api'],
  [/^monitoring\.coreos\.com\//, '@kubernetes-models/prometheus-operator'],
  [/^cert-manager\.io\//, '@kubernetes-models/cert-manager'],
  [/^(v1$|(apps|batch|autoscaling|policy|networking\.k8s\.io)\/)/, 'kubernetes-models'],
];

/** The module with the type and the validator of an object; null for kinds that have none. */
export function modelOf({ apiVersion, kind }: Manifest): string | null {
  const found = PACKAGES.find(([pattern]) => pattern.test(apiVersion));
  return found === undefined ? null : `${found[1]}/${apiVersion}/${kind}`;
}

/** Checks an object as the API server would check its values: types, ranges, required fields. */
export async function validateValues(manifest: Manifest): Promise<void> {
  const model = modelOf(manifest);
  if (model === null) {
    return;
  }
  const module = (await import(model)) as Record<
    string,
    new (data: Manifest) => { validate(): void }
  >;
  const Model = module[manifest.kind];
  if (Model === undefined) {
    throw new Error(`${model} does not have ${manifest.kind}.`);
  }
  new Model(manifest).validate();
}

/**
 * Checks that no object has a field its kind does not have: validators let such fields pass, and
 * the excess-property check of TypeScript does not. Returns what the compiler says.
 */
export async function typeCheck(manifests: readonly Manifest[]): Promise<string> {
  const cache = join(ROOT, '.cache');
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, 'chart-types-'));
  try {
    const files = manifests.flatMap((manifest, index) => {
      const model = modelOf(manifest);
      const text = JSON.stringify(manifest, null, 2);
      return model === null
        ? []
        : [
            `import type { I${manifest.kind} as T${index} } from '${model}';\n` +
              `export const m${index}: T${index} = ${text};\n`,
          ];
    });
    await writeFile(join(directory, 'manifests.mts'), files.join(''));
    const flags = '--noEmit --strict --skipLibCheck --module nodenext --target es2022 --types node';
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const args = [tsc, ...flags.split(' '), '--ignoreConfig', join(directory, 'manifests.mts')];
    return await run(process.execPath, args).then(
      () => '',
      (error: { stdout?: string }) => error.stdout ?? String(error),
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
