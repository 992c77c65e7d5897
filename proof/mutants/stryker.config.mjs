const folder = process.env.GATEHOUSE_MUTANTS;
const name = folder.replaceAll('/', '-');

/** The unit specs of one folder, against mutants of its sources. */
export default {
  // The issuer for tests of backends is itself a part of the specs.
  mutate: [`${folder}/**/*.ts`, '!**/*spec.ts', '!src/packages/guard/testing/**'],
  mutator: { excludedMutations: ['StringLiteral'] },
  plugins: [new URL('runner.mjs', import.meta.url).href],
  testRunner: 'specs',
  coverageAnalysis: 'perTest',
  concurrency: 1,
  // Only ends what blocks the process: `specs.mjs` has a limit for each test.
  timeoutMS: 60_000,
  ignorePatterns: ['**', '!/src/**', '!/test/**', '!/package.json', '!/.swcrc'],
  tempDirName: `.cache/mutants/${name}`,
  reporters: ['json', 'clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false, reportMutants: false },
  jsonReporter: { fileName: `.cache/mutants-${name}.json` },
  allowConsoleColors: false,
  warnings: { slow: false },
};
