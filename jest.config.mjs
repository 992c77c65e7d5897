const project = {
  testEnvironment: '<rootDir>/test/helpers/spec-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: {
    // Specs run the tools on the sources.
    '^(?:\\.\\./)+dist/(.*)\\.js$': '<rootDir>/src/$1',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  roots: ['<rootDir>/src', '<rootDir>/test'],
};

const database = process.env.GATEHOUSE_TEST_DATABASE ?? 'embedded';

/**
 * Specs about what stands in front of storage, or far from it. `npm test` runs them once, on
 * PostgreSQL: nothing in them could tell one database from the other.
 */
const awayFromStorage = [
  '/(cli|mtls|notif|client-kit|helm-test-pod|packages|packed-server|start)[^/]*\\.e2e-spec',
  '/(abuse|account-page[^/]*|arbitrary-input[^/]*|device-attacks|devices|documentation|encryption[^/]*)\\.e2e-spec',
  '/(errors|features|login-challenge|metrics-port|no-store|rate-limits|required-providers|route-guards|shutdown)\\.e2e-spec',
  '/(admin-(certificates|rate-limit)|signup-policy|tracing|updates-(limits|refusals))\\.e2e-spec',
  '/(external-(allowlist|connect|github|issuer|login|loopback[^/]*|races|return)|keyless[^/]*)\\.e2e-spec',
];
/** They need PostgreSQL or Redis, and skip all of themselves on the embedded database. */
const needsServices = [
  '/(admin|admin-(console[^/]*|leaver|operations)|admission|backchannel-logout|changed-rules|cluster)\\.e2e-spec',
  '/(database-faults|external-(google|stored)|fresh-login|invitations|offboarding[^/]*|provider-failures)\\.e2e-spec',
  '/(redis-failover|replicas|shutdown-rolling|upgrade)\\.e2e-spec',
];
const onlyEmbedded = ['/embedded-[^/]*\\.db-spec'];
/** They need PostgreSQL, and the embedded run leaves them out. */
const onlyPostgres = [
  '/(content-at-rest|private-ca|reseal|rotated-secrets)\\.e2e-spec',
  '/(services|schema|(audit|identity-due)\\.repository|admin-searches)\\.db-spec',
];

/** What the run on the other kind of database covers, where both kinds are run. */
const elsewhere =
  process.env.GATEHOUSE_TEST_BOTH === undefined
    ? { embedded: [], postgres: [] }
    : { embedded: [...awayFromStorage, ...needsServices], postgres: onlyEmbedded };

export default {
  // Only ends what hangs, on the slowest machine too: `bench/` measures speed.
  testTimeout: 1_200_000,
  projects: [
    { ...project, displayName: 'unit', testMatch: ['**/*.spec.ts'] },
    {
      ...project,
      displayName: database,
      testMatch: ['**/*.{db,e2e}-spec.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        ...elsewhere[database],
        ...(database === 'embedded' ? onlyPostgres : []),
      ],
      globalSetup: '<rootDir>/test/helpers/global-setup.ts',
      globalTeardown: '<rootDir>/test/helpers/global-teardown.ts',
    },
  ],
};
