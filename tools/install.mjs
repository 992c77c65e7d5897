import { spawnSync } from 'node:child_process';

// node tools/install.mjs FOLDER ...
// Installs the packages of folders with a package.json of their own, unless they are installed as their lock says.

/** No install script has to run. Some engines exclude Node 20, on which the tests show that the packages run. */
const FLAGS = ['--no-save', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund'];

for (const folder of process.argv.slice(2)) {
  console.log(`Installing the packages of ${folder}`);
  const { status } = spawnSync('npm', ['install', '--prefix', folder, ...FLAGS], {
    cwd: new URL('..', import.meta.url),
    stdio: 'inherit',
  });
  if (status !== 0) {
    process.exit(1);
  }
}
