import { DATABASE, FORWARDED, OKTA, PUBLIC } from './feature-values.js';
import type { JsonObject } from './render.js';

interface Refusal {
  readonly what: string;
  readonly values: JsonObject;
  /** Names of values in the messages of Helm 3 and Helm 4, without their wording. */
  readonly says: readonly string[];
}

const REDIS = { REDIS_URL: { existingSecret: 'gatehouse' } };
const RELAY = { id: 'relay', resource: 'https://relay.example.org' };

export const REFUSALS: readonly Refusal[] = [
  {
    what: 'two replicas without Redis',
    values: { replicaCount: 2, secrets: DATABASE },
    says: ['replicaCount=2', 'secrets.REDIS_URL', 'revocations'],
  },
  {
    what: 'an autoscaler that may make two replicas without Redis',
    values: { autoscaling: { enabled: true, maxReplicas: 2 }, secrets: DATABASE },
    says: ['autoscaling.maxReplicas=2', 'secrets.REDIS_URL'],
  },
  {
    what: 'two replicas with the embedded database',
    values: { replicaCount: 2, secrets: REDIS },
    says: ['replicaCount=2', 'secrets.DATABASE_URL', 'accounts of its own'],
  },
  {
    what: 'a secret in the ConfigMap',
    values: { config: { SERVICE_MASTER_SECRET: 'x'.repeat(40) } },
    says: ['config.SERVICE_MASTER_SECRET', 'secrets.SERVICE_MASTER_SECRET.existingSecret'],
  },
  {
    what: 'credentials of a trace collector in the ConfigMap',
    values: { config: { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hush' } },
    says: ['config.OTEL_EXPORTER_OTLP_HEADERS', 'extraEnv'],
  },
  {
    what: 'a client secret in the ConfigMap',
    values: { providers: { list: [{ ...OKTA, clientSecret: 'hush' }] } },
    says: ['providers.list[0] (okta)', 'providers.clientSecrets.okta'],
  },
  {
    what: 'a provider without a client secret',
    values: { providers: { list: [OKTA] } },
    says: ['providers.list[0] (okta)', 'providers.clientSecrets.okta'],
  },
  {
    what: 'a client secret of a missing provider',
    values: { providers: { clientSecrets: { otka: { existingSecret: 'a' } } } },
    says: ['providers.clientSecrets.otka'],
  },
  {
    what: 'a token of a directory in the ConfigMap',
    values: { providers: { list: [{ ...OKTA, signals: { scim: { token: 'hush' } } }] } },
    says: ['signals.scim.token', 'providers.signalSecrets.okta.scimToken'],
  },
  {
    what: 'a directory without a token',
    values: { providers: { list: [{ ...OKTA, signals: { scim: {} } }] } },
    says: ['signals.scim.token', 'providers.signalSecrets.okta.scimToken'],
  },
  {
    what: 'a token of signals that is given twice',
    values: {
      providers: {
        list: [{ ...OKTA, signals: { scim: { tokenFile: '/a' } } }],
        signalSecrets: { okta: { scimToken: { existingSecret: 'a' } } },
      },
    },
    says: ['signals.scim.tokenFile', 'providers.signalSecrets.okta.scimToken'],
  },
  {
    what: 'a secret of a missing section of signals',
    values: {
      providers: {
        list: [{ ...OKTA, signals: { scim: {} } }],
        signalSecrets: { okta: { pushToken: { existingSecret: 'a' } } },
      },
    },
    says: ['providers.signalSecrets.okta.pushToken', 'signals.sharedSignals'],
  },
  {
    what: 'a secret of signals of a missing provider',
    values: { providers: { signalSecrets: { otka: { scimToken: { existingSecret: 'a' } } } } },
    says: ['providers.signalSecrets.otka'],
  },
  {
    what: 'a backend without a client',
    values: { resourceServers: { list: [RELAY] } },
    says: ['resourceServers.list[0] (relay)', 'resourceServers.clientSecrets.relay'],
  },
  {
    what: 'a backend with two ways to authenticate, and the secret of a missing one',
    values: {
      config: PUBLIC,
      resourceServers: {
        list: [{ ...RELAY, client: { jwksUri: 'https://relay.example.org/jwks.json' } }],
        clientSecrets: { relay: { existingSecret: 'a' }, realy: { existingSecret: 'a' } },
      },
    },
    says: ['has a client', 'resourceServers.clientSecrets.realy'],
  },
  {
    what: 'programs without a backend',
    values: {
      resourceServers: {
        programClients: [{ id: 'cursor', name: 'Cursor', redirectUris: ['cursor://mcp/done'] }],
      },
    },
    says: ['resourceServers.programClients has programs'],
  },
  {
    what: 'backends in two places',
    values: {
      config: { AUTH_RESOURCE_SERVERS_CONFIG_PATH: '/a' },
      resourceServers: { list: [RELAY], clientSecrets: { relay: { existingSecret: 'a' } } },
    },
    says: [
      'config.AUTH_RESOURCE_SERVERS_CONFIG_PATH is already said by the values of resourceServers',
    ],
  },
  {
    what: 'the migration hook with a secret that is not there yet',
    values: { secrets: { ...DATABASE, DATABASE_URL: { value: 'postgres://a' } } },
    says: ['secrets.DATABASE_URL.value', 'migrations.mode=initContainer'],
  },
  {
    what: 'a secret that is given twice',
    values: { secrets: DATABASE, extraEnv: [{ name: 'DATABASE_URL', value: 'postgres://a' }] },
    says: ['secrets.DATABASE_URL', 'extraEnv'],
  },
  {
    what: 'an HTTPRoute without a gateway',
    values: { httpRoute: { enabled: true } },
    says: ['httpRoute.parentRefs'],
  },
  {
    what: 'a grace period that is shorter than sleep and drain',
    values: { terminationGracePeriodSeconds: 30, config: { SERVICE_SHUTDOWN_GRACE_SECONDS: 25 } },
    says: ['terminationGracePeriodSeconds', '35'],
  },
  {
    what: 'direct mode without a certificate',
    values: { mtls: { enabled: true, mode: 'direct' } },
    says: ['mtls.direct.certificate.secretName'],
  },
  {
    what: 'a variable that is set in two places',
    values: {
      mtls: { enabled: true, forwarded: { trustedProxies: ['10.0.0.1'] } },
      config: { SERVICE_FEATURE_AUTH_MTLS__MODE: 'direct' },
    },
    says: ['config.SERVICE_FEATURE_AUTH_MTLS__MODE'],
  },
  {
    what: 'a scrape of metrics that are off',
    values: { metrics: { serviceMonitor: { enabled: true } } },
    says: ['metrics.enabled'],
  },
  {
    what: 'several mistakes, all at once',
    values: { replicaCount: 3, httpRoute: { enabled: true } },
    says: ['3 problem(s)', 'secrets.DATABASE_URL', 'secrets.REDIS_URL', 'httpRoute.parentRefs'],
  },
  {
    what: 'a misspelt variable',
    values: { config: { AUTH_ANONYMUS_SIGNUP_ENABLED: false } },
    says: ['AUTH_ANONYMUS_SIGNUP_ENABLED'],
  },
  {
    what: 'a misspelt secret',
    values: { secrets: { DATABSE_URL: { existingSecret: 'a' } } },
    says: ['DATABSE_URL'],
  },
  {
    what: 'a misspelt value',
    values: { podDisruptionBudget: { maxUnavailble: 1 } },
    says: ['podDisruptionBudget', 'maxUnavailble'],
  },
  {
    what: 'a misspelt field of a provider',
    values: { providers: { list: [{ ...OKTA, allow: { groupAny: ['a'] } }] } },
    says: ['groupAny'],
  },
  {
    what: 'a list with an empty item, which would lift a restriction',
    values: { config: { AUTH_GITHUB_ALLOWED_ORGS: [''] } },
    says: ['AUTH_GITHUB_ALLOWED_ORGS'],
  },
  {
    what: 'a value of the wrong type',
    values: { config: { AUTH_TOKEN_TTL_SECONDS: 'a month' } },
    says: ['AUTH_TOKEN_TTL_SECONDS'],
  },
  {
    what: 'a number out of range',
    values: { config: { SERVICE_REQUEST_TIMEOUT_SECONDS: 9000 } },
    says: ['SERVICE_REQUEST_TIMEOUT_SECONDS'],
  },
  {
    what: 'a rolling update of the embedded database',
    values: { strategy: { type: 'RollingUpdate' } },
    says: ['strategy must be {type: Recreate}', 'secrets.DATABASE_URL'],
  },
  {
    what: 'a strategy without a type, which is a rolling update, of the embedded database',
    values: { strategy: { rollingUpdate: { maxSurge: 0 } } },
    says: ['strategy must be {type: Recreate}'],
  },
  {
    what: 'other options for client certificates than those of the chart',
    values: {
      ingress: {
        enabled: true,
        hosts: ['gate.example.org'],
        annotations: { 'traefik.ingress.kubernetes.io/router.tls.options': 'infra-tls@file' },
      },
      mtls: { enabled: true, forwarded: { ...FORWARDED, proxy: 'traefik' } },
    },
    says: ['ingress.annotations', 'router.tls.options', 'mtls.forwarded.createProxyConfig'],
  },
  {
    what: 'objects of Traefik with an HTTPRoute, which refers to none of them',
    values: {
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
      mtls: { enabled: true, forwarded: { ...FORWARDED, proxy: 'traefik' } },
    },
    says: ['mtls.forwarded.createProxyConfig', 'ingress.enabled', 'traefik'],
  },
  {
    what: 'a ClientTrafficPolicy in another namespace than its Gateway',
    values: {
      httpRoute: { enabled: true, parentRefs: [{ name: 'public', namespace: 'gateways' }] },
      mtls: { enabled: true, forwarded: { ...FORWARDED, proxy: 'envoy-gateway' } },
    },
    says: ['ClientTrafficPolicy', 'namespace', 'gateways'],
  },
  {
    what: 'egress limited to nothing',
    values: { networkPolicy: { egress: { enabled: true } } },
    says: ['networkPolicy.egress.rules'],
  },
  ...[
    { config: { METRICS_TOKEN_FILE: '/mnt/token' } },
    { extraEnv: [{ name: 'METRICS_TOKEN', value: 'plain' }] },
    { extraEnv: [{ name: 'METRICS_TOKEN_FILE', value: '/mnt/token' }] },
  ].map((where) => ({
    what: `a ServiceMonitor that does not know the token of ${JSON.stringify(where)}`,
    values: { ...where, metrics: { enabled: true, serviceMonitor: { enabled: true } } },
    says: ['metrics.serviceMonitor.authorization'],
  })),
  {
    what: 'an administration API that every pod reaches in the open',
    values: {
      administration: { enabled: true, tokens: { existingSecret: 'admins' } },
      networkPolicy: { enabled: false },
    },
    says: ['administration.tls.existingSecret', 'networkPolicy.enabled'],
  },
  {
    what: 'a port of the administration API without a Service',
    values: { config: { ADMIN_PORT: 3100 } },
    says: ['config.ADMIN_PORT', 'administration.enabled'],
  },
  {
    what: 'two CA bundles',
    values: { caBundle: { pem: 'a', existingConfigMap: 'corp-ca' } },
    says: ['caBundle.pem and caBundle.existingConfigMap'],
  },
  {
    what: 'a CA bundle and a path to another one',
    values: {
      caBundle: { existingSecret: 'corp-ca' },
      config: { SERVICE_CA_BUNDLE: '/etc/ssl/corp.pem' },
    },
    says: ['config.SERVICE_CA_BUNDLE', 'caBundle'],
  },
  {
    what: 'credentials of a proxy in the ConfigMap',
    values: { config: { HTTPS_PROXY: 'http://user:hush@proxy.example:3128' } },
    says: ['config.HTTPS_PROXY', 'extraEnv'],
  },
  {
    what: 'a public address without a scheme',
    values: { config: { SERVICE_PUBLIC_URL: 'gate.example.org' } },
    says: ['SERVICE_PUBLIC_URL'],
  },
  {
    what: 'a certificate of the main port that is set in two places',
    values: {
      tls: { existingSecret: 'gate-tls' },
      config: { SERVICE_TLS_CERT_PATH: '/mnt/tls.crt' },
    },
    says: ['config.SERVICE_TLS_CERT_PATH is already said by the values of tls'],
  },
  {
    what: 'routes to an administration API that is off',
    values: {
      administration: { ingress: { enabled: true }, httpRoute: { enabled: true } },
    },
    says: [
      'need administration.enabled',
      'administration.httpRoute.parentRefs',
      'administration.ingress.hosts',
    ],
  },
];
