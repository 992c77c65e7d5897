import { useDirectoryOfRun } from './test/jest/temporary-directory.mjs';

useDirectoryOfRun();

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
};

/** Specs that start the built programs. `npm test` runs those of the core, once. */
const withPrograms = {
  ...project,
  globalSetup: '<rootDir>/test/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/jest/global-teardown.ts',
};

/** The name of a spec is its tier: test/README.md has the table. */
const PROJECTS = {
  unit: { ...project, testMatch: ['**/*.spec.ts', '**/*.integration-spec.ts'] },
  core: { ...withPrograms, testMatch: ['**/*.e2e-spec.ts'] },
  full: {
    ...withPrograms,
    testMatch: ['**/*.e2e-spec.ts', '**/*.full-spec.ts', '!**/*.embedded.*'],
  },
  /** Each server starts the embedded database itself. */
  embedded: { ...withPrograms, testMatch: ['**/*.both.{e2e,full}-spec.ts', '**/*.embedded.*'] },
  nightly: { ...withPrograms, testMatch: ['**/*.nightly-spec.ts'] },
};

export default {
  testSequencer: '<rootDir>/test/jest/longest-first.mjs',
  // Only ends what hangs, on the slowest machine too: `bench/` measures speed.
  testTimeout: 1_200_000,
  // A limit that nothing reaches gives a single spec a worker, too: Jest ends workers that do not end themselves. Node 26
  // can spin for ever at the end of a process that had servers of specs.
  workerIdleMemoryLimit: '8GB',
  projects: Object.entries(PROJECTS).map(([displayName, config]) => ({ ...config, displayName })),
};
