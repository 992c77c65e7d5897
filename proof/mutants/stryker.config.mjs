import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const folder = process.env.GATEHOUSE_MUTANTS;
const name = folder.replaceAll('/', '-');

/** The unit specs of one folder, against mutants of its sources. */
export default {
  mutate: [`${folder}/**/*.ts`, '!**/*.spec.ts'],
  mutator: { excludedMutations: ['StringLiteral'] },
  // A package of its own: plugins are not looked for in the node_modules of the project.
  plugins: [pathToFileURL(require.resolve('@stryker-mutator/jest-runner/package.json')).href].map(
    (manifest) => new URL('dist/src/index.js', manifest).href,
  ),
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  concurrency: 1,
  // Jest keeps the modules of earlier runs in memory.
  maxTestRunnerReuse: 40,
  timeoutMS: 60_000,
  ignorePatterns: ['**', '!/src/**', '!/test/**', '!/package.json', '!/.swcrc'],
  tempDirName: `.cache/mutants/${name}`,
  reporters: ['json', 'clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false, reportMutants: false },
  jsonReporter: { fileName: `.cache/mutants-${name}.json` },
  allowConsoleColors: false,
  warnings: { slow: false },
  jest: {
    projectType: 'custom',
    enableFindRelatedTests: false,
    config: {
      testEnvironment: require.resolve('@stryker-mutator/jest-runner/jest-env/node'),
      extensionsToTreatAsEsm: ['.ts'],
      transform: { '^.+\\.ts$': '@swc/jest' },
      moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
      testMatch: [`<rootDir>/${folder}/**/*.spec.ts`],
    },
  },
};
