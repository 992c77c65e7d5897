const project = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  roots: ['<rootDir>/src', '<rootDir>/test'],
};

export default {
  projects: [
    { ...project, displayName: 'unit', testMatch: ['**/*.spec.ts'] },
    {
      ...project,
      displayName: process.env.GATEHOUSE_TEST_DATABASE ?? 'embedded',
      testMatch: ['**/*.{db,e2e}-spec.ts'],
      globalSetup: '<rootDir>/test/helpers/global-setup.ts',
      globalTeardown: '<rootDir>/test/helpers/global-teardown.ts',
    },
  ],
};
