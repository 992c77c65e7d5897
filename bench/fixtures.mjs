import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

// The fixtures of the specs are TypeScript, which the oldest supported Node does not run: they are linked at each start,
// in a moment.
const ROOT = join(import.meta.dirname, '..');
const FILES = [
  'test/fakes/people-provider.ts',
  'test/fixtures/admin-fixture.ts',
  'test/fixtures/guarded-relay-fixture.ts',
  'test/fixtures/programs/proxy-fixture.ts',
  'test/fixtures/programs/service-process.ts',
  'test/fixtures/programs/services-fixture.ts',
  'test/fixtures/programs-fixture.ts',
  'test/fixtures/resource-server-fixture.ts',
  'test/helpers/client.ts',
  'test/helpers/client-live.ts',
];

/** The files of programs that a fixture starts are next to its source. */
const ownAddress = {
  name: 'own-address',
  transform: (code, id) =>
    code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
};

/** The linker brings the helpers of decorators itself. */
const PACKAGES = /^(?!@oxc-project\/runtime)[@a-z]/;
/** Packages are found from there. */
const LINKED = join(ROOT, '.cache/bench');

async function link(files) {
  const input = files.map((file) => join(ROOT, file));
  const plugins = [ownAddress];
  const bundle = await rolldown({ input, plugins, platform: 'node', external: PACKAGES });
  await bundle.write({ dir: LINKED, format: 'es' });
  await bundle.close();
  return files.map((file) => join(LINKED, basename(file).replace(/ts$/, 'js')));
}

/** Links a program in TypeScript. @param {string} file from the root @returns its path */
export async function linkProgram(file) {
  const [path] = await link([file]);
  return path;
}

async function linkedFixtures() {
  const names = await link(FILES);
  const modules = await Promise.all(names.map((name) => import(pathToFileURL(name).href)));
  return Object.assign({}, ...modules);
}

export const {
  backends,
  backendToken,
  basic,
  call,
  childrenOf,
  connect,
  createDatabase,
  entryOf,
  exchangeForm,
  freePort,
  GuardedRelay,
  INSPECTOR,
  logIn,
  loginBody,
  makeDeviceKey,
  PeopleProvider,
  PROGRAM_ENV,
  PROGRAMS,
  programTokens,
  PROXY_PROGRAMS,
  refresh,
  runSql,
  startPostgres,
  startProxy,
  startRedis,
} = await linkedFixtures();
