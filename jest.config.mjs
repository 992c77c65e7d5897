import { useMemoryForFiles } from './test/jest/temporary-directory.mjs';

useMemoryForFiles();

/**
 * Specs with the same outcome on any Node, which `.ci/run` leaves out on its second one. The workflow runs all specs on
 * each version.
 */
const SAME_ON_ANY_NODE = [
  // They read files of the repository, or run its tools and models.
  'test/(architecture|chart|docker|docs|tools)/',
  'proof/',
  // A browser shows the pages.
  'test/e2e/web/',
  // Other programs run the configuration and the samples: nginx, Envoy, curl, Python.
  'test/e2e/oauth/(documented-commands|forward-auth(-proxies)?|python-(backend|gate))\\.',
  'test/e2e/login/certificate/(forwarded|proxies)\\.',
  'test/e2e/client/samples\\.',
  // PostgreSQL and Redis fail, or search many rows.
  'test/e2e/storage/(cluster|database-faults|redis-failover)\\.',
  'test/e2e/guard/outages\\.',
  'src/(admin|storage/repositories)/',
  // Rows that are sealed again; `upgrade-earlier.both` seals them on each Node.
  'test/e2e/storage/(content-at-rest|reseal|rotated-secrets|wrong-secret)\\.',
  // Rules and their effects, over routes that other specs call on each Node.
  'src/policy/',
  'test/e2e/(admin|features|offboarding|scim)/',
  'test/e2e/(requests|signals)/(?!.*\\.both\\.)',
  'test/e2e/login/(admission|signup-policy)\\.',
  'test/e2e/login/(certificate|keyless)/(chain|claim|leavers|lost-chain|policies|revocation|revocation-path|vouched-sessions)\\.',
  'test/e2e/login/provider/(allowlist|google|issuer|races|return|stored)\\.',
  'test/e2e/oauth/(exchange-settings|limits|signing-keys)\\.',
  'test/e2e/account/encryption-matrix\\.',
  'test/e2e/http/(abuse|arbitrary-input(-routes)?)\\.',
  'test/e2e/login/(certificate/(chain-served|connect|connections|doctor)|devices/device-attacks|login-challenge)\\.',
  'test/e2e/auth/vouched-sessions\\.',
  // Commands and deliveries, over the terminal, files and connections of others that run on each Node.
  'test/e2e/cli/(?!cli|devices\\.|hostile-server|key\\.)',
  'test/e2e/notify/(background|changes|doctor|outage|receipts|resolve|sealed)\\.',
  // Whole databases are copied: the rows and files are those of other specs.
  'test/e2e/storage/(copy|full-disk)\\.',
].map((path) => `<rootDir>/${path}`);
const isChecked = process.env.GATEHOUSE_TEST_CHECKED === '1';

const project = {
  testEnvironment: '<rootDir>/test/jest/spec-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: {
    // Specs run the tools on the sources.
    '^(?:\\.\\./)+dist/(.*)\\.js$': '<rootDir>/src/$1',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  roots: ['<rootDir>/src', '<rootDir>/test', '<rootDir>/proof'],
  testPathIgnorePatterns: ['/node_modules/', ...(isChecked ? SAME_ON_ANY_NODE : [])],
};

const database = process.env.GATEHOUSE_TEST_DATABASE ?? 'embedded';

/**
 * Where `npm test` runs both kinds of database, PostgreSQL has the specs without a suffix: they do not depend on the
 * kind, or skip all of themselves on the embedded database. On the second Node, `*.both.*` specs run on the embedded
 * one alone.
 */
const isOneOfTwo = process.env.GATEHOUSE_TEST_BOTH !== undefined;
const specsOf = {
  embedded: isOneOfTwo
    ? ['**/*.both.e2e-spec.ts', '**/embedded/*.db-spec.ts']
    : ['**/*.{db,e2e}-spec.ts', '!**/*.postgres.*-spec.ts'],
  postgres: isOneOfTwo
    ? ['**/*.{db,e2e}-spec.ts', '!**/embedded/*.db-spec.ts', ...(isChecked ? ['!**/*.both.*'] : [])]
    : ['**/*.{db,e2e}-spec.ts'],
};

export default {
  testSequencer: '<rootDir>/test/jest/longest-first.mjs',
  // Only ends what hangs, on the slowest machine too: `bench/` measures speed.
  testTimeout: 1_200_000,
  // A limit that nothing reaches gives a single spec a worker, too: Jest ends workers that do not end themselves. Node 26
  // can spin for ever at the end of a process that had servers of specs.
  workerIdleMemoryLimit: '8GB',
  projects: [
    { ...project, displayName: 'unit', testMatch: ['**/*.spec.ts'] },
    {
      ...project,
      // Otherwise both kinds share the file of durations, by which Jest starts the longest specs first.
      id: `${import.meta.dirname} ${database}`,
      displayName: database,
      testMatch: specsOf[database],
      globalSetup: '<rootDir>/test/jest/global-setup.ts',
      globalTeardown: '<rootDir>/test/jest/global-teardown.ts',
    },
  ],
};
