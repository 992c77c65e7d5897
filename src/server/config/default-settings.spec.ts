import { resolveSettings } from './resolve-settings.js';

describe('resolveSettings with nothing set', () => {
  it('returns the documented defaults', () => {
    expect(resolveSettings({})).toEqual({
      warnings: [],
      findings: [
        {
          severity: 'warning',
          code: 'login-origin-unknown',
          params: {},
          message: expect.stringContaining('SERVICE_PUBLIC_URL'),
        },
      ],
      settings: {
        http: {
          host: '0.0.0.0',
          port: 3000,
          publicUrl: null,
          tls: { certPath: null, keyPath: null },
          trustedProxies: [],
          corsOrigins: ['*'],
          bodyLimitBytes: 1_048_576,
          requestTimeoutMs: 30_000,
          shutdownGraceMs: 25_000,
          shutdownSpreadMs: 10_000,
          docsEnabled: true,
          accountPageEnabled: true,
          notificationRequestUrl: null,
          logLevel: 'info',
        },
        brand: { name: 'Gatehouse', logoUrl: null, accent: null, support: null },
        network: { caBundle: null, httpProxy: null, httpsProxy: null, noProxy: [] },
        storage: {
          databaseUrl: null,
          dataDir: './data',
          poolSize: 10,
          connectTimeoutMs: 3000,
          statementTimeoutMs: 5000,
          lockTimeoutMs: 3000,
          preparedStatements: true,
          masterSecret: null,
          masterSecretsPrevious: [],
          redisUrl: null,
          redisSentinels: [],
          redisSentinelPassword: null,
          redisClusterNodes: [],
          files: { databaseUrl: null, masterSecret: null, masterSecretsPrevious: null },
          caBundle: null,
        },
        auth: {
          anonymousSignupEnabled: true,
          signupInvitationsEnabled: false,
          signupProviders: [],
          requiredLoginProviders: [],
          requiresIdentities: false,
          keyChallengeEnabled: true,
          requireServerChallenge: true,
          loginOrigins: [],
          tokenTtlSeconds: 2_592_000,
          freshLoginMs: 900_000,
          accessCacheMs: 5000,
          revocationBoundMs: 7000,
          offboarding: {
            enabled: false,
            intervalSeconds: 86_400,
            strict: false,
            concurrency: 10,
            checksPerSecond: 50,
            directories: [],
            keylessLogins: [],
          },
        },
        rateLimits: {
          ...{ perIp: 1200, perAccount: 1200, loginPerIp: 120, handshakePerIp: 600 },
          perResourceServer: 60_000,
        },
        updates: {
          transports: ['websocket'],
          maxConnections: 20_000,
          maxConnectionsPerAccount: 100,
          maxUnauthenticated: 1000,
          maxUnauthenticatedPerIp: 100,
          maxWaitingHandshakes: 20_000,
        },
        answers: { enabled: null },
        encryption: {
          storagePolicy: 'required_e2ee',
          defaultAccountMode: 'e2ee',
          allowAccountOptOut: false,
          plainAccountSettingsAtRest: 'server_sealed',
          plainAccountCredentialsAtRest: 'server_sealed',
        },
        keyless: {
          accountsEnabled: false,
          oauth: { enabled: false, providers: [], autoProvision: false },
        },
        mtls: {
          enabled: false,
          mode: 'forwarded',
          autoProvision: false,
          identitySource: 'san_email',
          allowedEmailDomains: [],
          allowedIssuers: [],
          trustForwardedHeaders: false,
          trustedProxies: [],
          forwardedPreset: 'plain',
          forwardedHeaders: {
            email: 'x-service-client-cert-email',
            upn: 'x-service-client-cert-upn',
            subject: 'x-service-client-cert-subject',
            fingerprint: 'x-service-client-cert-sha256',
            issuer: 'x-service-client-cert-issuer',
          },
          verifyForwarded: false,
          xfccElement: 'only',
          custom: {
            certificateHeader: null,
            decoder: 'url-pem',
            verifyHeader: null,
            verifyValue: 'SUCCESS',
          },
          publicUrl: null,
          returnToAllowPrefixes: [],
          claimTtlSeconds: 60,
          tokenTtlSeconds: 43_200,
          tlsPort: null,
          tlsCertPath: null,
          tlsKeyPath: null,
          caPath: null,
          crlPath: null,
          crlUrls: [],
          revocationHosts: [],
          crlFetchSeconds: 300,
          crlMaxAgeSeconds: 86_400,
          ocspEnabled: false,
        },
        oauthReturn: {
          webappUrl: null,
          returnUrlBase: null,
          hostedUrl: null,
          allowedSchemes: [],
          loopbackEnabled: true,
        },
        ui: { autoRedirect: { enabled: false, providerId: null } },
        metrics: { port: null, host: '127.0.0.1', token: null, tokenFile: null },
        admin: {
          port: null,
          host: '127.0.0.1',
          publicUrl: null,
          tokensFile: null,
          tls: { certPath: null, keyPath: null, clientCaPath: null, operators: [] },
          login: { provider: null, readGroups: [], operateGroups: [], sessionMs: 3_600_000 },
          requestsPerMinute: 600,
          trustedProxies: [],
        },
        audit: { retentionDays: 365, refusedLoginsDays: 30 },
        providers: [],
        resourceServers: [],
        programClients: [],
        ruleFiles: {
          paths: [],
          addresses: { publicUrl: null, hasReturnAddress: false },
          values: expect.any(Object),
        },
      },
    });
  });

  it('returns settings that cannot be changed', () => {
    const { settings } = resolveSettings({ SERVICE_CORS_ORIGINS: 'https://a.example' });
    expect(Object.isFrozen(settings.auth.offboarding)).toBe(true);
    expect(() => settings.http.corsOrigins.push('x')).toThrow(TypeError);
  });

  it('treats an empty value as not set', () => {
    expect(resolveSettings({ PORT: '', DATABASE_URL: '', AUTH_NONSENSE: '' })).toEqual(
      resolveSettings({}),
    );
  });
});
