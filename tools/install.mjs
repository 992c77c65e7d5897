import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// node tools/install.mjs FOLDER ...
// Installs the packages of folders with a package.json of their own, unless they are installed as their lock says.
const ROOT = join(import.meta.dirname, '..');
/** No install script has to run. Some engines exclude Node 20, on which the tests show that the packages run. */
const FLAGS = ['--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund'];

for (const folder of process.argv.slice(2)) {
  if (isInstalled(folder)) {
    console.log(`The packages of ${folder} are installed.`);
    continue;
  }
  console.log(`Installing the packages of ${folder}: ${dependenciesOf(folder).join(', ')}`);
  const { status } = spawnSync('npm', ['ci', '--prefix', folder, ...FLAGS], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) {
    process.exit(1);
  }
}

function dependenciesOf(folder) {
  return Object.keys(read(folder, 'package.json').dependencies);
}

function isInstalled(folder) {
  const installed = read(folder, 'node_modules/.package-lock.json')?.packages ?? {};
  // The installed lock has no entry of the project itself.
  const wanted = { ...read(folder, 'package-lock.json').packages, '': undefined };
  const paths = [...Object.keys(wanted), ...Object.keys(installed)];
  return paths.every((path) => {
    const [one, other] = [wanted[path], installed[path]];
    // Other platforms have other optional packages.
    return other === undefined
      ? one === undefined || one.optional === true
      : one?.version === other.version && one.integrity === other.integrity;
  });
}

/** @returns null where the file does not exist */
function read(folder, name) {
  try {
    return JSON.parse(readFileSync(join(ROOT, folder, name), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') {
      return null;
    }
    throw error;
  }
}
