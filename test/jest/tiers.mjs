import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The ends of the names of spec files, by tier. `npm test` runs the core, which needs Node alone. */
export const TIERS = {
  core: ['.spec.ts', '.integration-spec.ts', '.e2e-spec.ts'],
  full: ['.full-spec.ts'],
  nightly: ['.nightly-spec.ts'],
};

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['src', 'test', 'proof'];

/** Returns the paths of all spec files, from the root. */
export function specFiles() {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter((path) => path.endsWith('spec.ts') && !path.includes('node_modules'))
      .map((path) => join(folder, path)),
  );
}

/** Returns the tiers that a file's name belongs to: exactly one for a spec. */
export function tiersOf(path) {
  return Object.keys(TIERS).filter((tier) => TIERS[tier].some((end) => path.endsWith(end)));
}
