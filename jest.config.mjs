import { useMemoryForFiles } from './test/jest/temporary-directory.mjs';

useMemoryForFiles();

/**
 * Specs with the same outcome on any Node: they read files of the repository, or show pages in a browser. `.ci/run`
 * leaves them out on its second Node.
 */
const SAME_ON_ANY_NODE = [
  '<rootDir>/test/(architecture|chart|docker|docs)/.*\\.spec\\.ts$',
  '<rootDir>/test/e2e/web/',
];
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
 * kind, or skip all of themselves on the embedded database.
 */
const isOneOfTwo = process.env.GATEHOUSE_TEST_BOTH !== undefined;
const specsOf = {
  embedded: isOneOfTwo
    ? ['**/*.both.e2e-spec.ts', '**/embedded/*.db-spec.ts']
    : ['**/*.{db,e2e}-spec.ts', '!**/*.postgres.*-spec.ts'],
  postgres: isOneOfTwo
    ? ['**/*.{db,e2e}-spec.ts', '!**/embedded/*.db-spec.ts']
    : ['**/*.{db,e2e}-spec.ts'],
};

export default {
  // Only ends what hangs, on the slowest machine too: `bench/` measures speed.
  testTimeout: 1_200_000,
  projects: [
    { ...project, displayName: 'unit', testMatch: ['**/*.spec.ts'] },
    {
      ...project,
      displayName: database,
      testMatch: specsOf[database],
      globalSetup: '<rootDir>/test/jest/global-setup.ts',
      globalTeardown: '<rootDir>/test/jest/global-teardown.ts',
    },
  ],
};
