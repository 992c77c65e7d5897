import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DIRECTORY = fileURLToPath(new URL('.', import.meta.url));
const MODELS = 'proof/search ';

/** Reads the planted bugs: a patch each, whose first lines name the invariant and the part that catches it. */
export function readPlanted() {
  const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.patch'));
  return files.toSorted().map((file) => {
    const path = `${DIRECTORY}${file}`;
    const [head = '', ...diffs] = readFileSync(path, 'utf8').split(/^(?=diff --git )/m);
    const field = (name) => new RegExp(`^${name}: (.+)$`, 'm').exec(head)?.[1] ?? null;
    const part = field('Part') ?? '';
    return {
      name: file.slice(0, -'.patch'.length),
      path,
      invariant: field('Invariant') ?? '',
      /** An instance of the models; null where specs catch it. */
      instance: part.startsWith(MODELS) ? part.slice(MODELS.length) : null,
      part,
      /** Title of the test that must fail; null for a model. */
      test: field('Test'),
      /** The commit that mended the same bug in this repository. */
      past: field('Past'),
      changedLines: diffs.join('').match(/^\+(?!\+\+ )/gm)?.length ?? 0,
    };
  });
}
