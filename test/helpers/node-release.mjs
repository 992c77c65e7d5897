import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';

// node test/helpers/node-release.mjs VERSION
// Writes the folder of the program `node` of that version, which npm installs into .cache at the first call.
const CACHE = join(import.meta.dirname, '../../.cache');
const PACKAGE = `node-linux-${process.arch}`;

const version = process.argv[2] ?? '';
const home = join(CACHE, `${PACKAGE}-${version}`);
if (!existsSync(home)) {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, 'node-'));
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', ['install', '--prefix', work, ...flags, `${PACKAGE}@${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  renameSync(work, home);
}
process.stdout.write(join(home, 'node_modules', PACKAGE, 'bin'));
