import type { JsonObject } from './render.js';

export const DATABASE = {
  DATABASE_URL: { existingSecret: 'gatehouse' },
  SERVICE_MASTER_SECRET: { existingSecret: 'gatehouse' },
};
export const OKTA = {
  id: 'okta',
  type: 'oidc',
  issuer: 'https://acme.example',
  clientId: 'gatehouse',
};
export const PUBLIC = { SERVICE_PUBLIC_URL: 'https://gate.example.org' };
export const KEYLESS = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: true,
};
export const FORWARDED = {
  trustedProxies: ['10.0.0.0/8'],
  caSecret: 'client-ca',
  createProxyConfig: true,
};
const TOKEN = { name: 'prometheus', key: 'token' };
const LABELS = {
  'app.kubernetes.io/name': 'other',
  'app.kubernetes.io/instance': 'other',
  'app.kubernetes.io/component': 'other',
  'app.kubernetes.io/version': '0',
  team: 'identity',
};

/** Values for objects or fields that no values file of the chart creates. */
export const FEATURES = {
  'labels of its own': {
    commonLabels: LABELS,
    podLabels: { ...LABELS, team: 'pods' },
    service: { labels: { ...LABELS, team: 'service' } },
    secrets: DATABASE,
    migrations: { podLabels: LABELS },
    metrics: { enabled: true, serviceMonitor: { enabled: true, labels: LABELS } },
  },
  'signals with secrets of the chart and of others': {
    config: PUBLIC,
    providers: {
      list: [
        {
          ...OKTA,
          signals: {
            scim: { match: 'externalId' },
            sharedSignals: { transmitter: 'https://acme.example', delivery: 'poll' },
          },
        },
      ],
      clientSecrets: { okta: { existingSecret: 'gatehouse' } },
      signalSecrets: {
        okta: {
          scimToken: { value: `${'1'.repeat(32)}\n${'2'.repeat(32)}` },
          managementToken: { existingSecret: 'okta-signals' },
        },
      },
    },
  },
  'a load balancer': {
    service: {
      type: 'LoadBalancer',
      loadBalancerClass: 'internal',
      loadBalancerIP: '10.0.0.1',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      externalTrafficPolicy: 'Local',
    },
  },
  'an egress policy': {
    secrets: DATABASE,
    networkPolicy: {
      egress: {
        enabled: true,
        rules: [{ ports: [{ port: 5432 }], to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
      },
    },
  },
  'the administration API': {
    administration: {
      enabled: true,
      tokens: { existingSecret: 'admins' },
      tls: { existingSecret: 'admin-tls' },
    },
    networkPolicy: {
      adminFrom: [{ namespaceSelector: { matchLabels: { name: 'operators' } } }],
    },
  },
  'HTTPS on the main port': {
    tls: { existingSecret: 'gate-tls', caKey: 'ca.crt' },
    ingress: { enabled: true, hosts: ['gate.example.org'] },
  },
  'routes to the administration API': {
    administration: {
      enabled: true,
      tokens: { existingSecret: 'admins' },
      ingress: {
        enabled: true,
        className: 'internal',
        hosts: ['admin.example.org'],
        annotations: { allowlist: '10.0.0.0/8' },
        tls: [{ secretName: 'admin-host', hosts: ['admin.example.org'] }],
      },
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'internal' }],
        hostnames: ['admin.example.org'],
      },
    },
  },
  'two address families, hooks and labels': {
    metrics: { enabled: true },
    service: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] },
    serviceAccount: { labels: { team: 'identity' } },
    lifecycle: { postStart: { exec: { command: ['true'] } } },
    podDisruptionBudget: { minAvailable: '50%' },
  },
  'options of single objects': {
    commonAnnotations: { owner: 'team-{{ .Release.Name }}' },
    namespaceOverride: 'identity',
    persistence: { accessModes: ['ReadWriteOncePod'], storageClassName: '-' },
    ingress: {
      enabled: true,
      hosts: ['gate.example.org'],
      extraPaths: [
        {
          ...{ path: '/', pathType: 'Prefix' },
          backend: { service: { name: 'ssl-redirect', port: { name: 'use-annotation' } } },
        },
      ],
    },
    metrics: {
      enabled: true,
      serviceMonitor: {
        ...{ enabled: true, jobLabel: 'app.kubernetes.io/name' },
        tlsConfig: { insecureSkipVerify: true },
      },
    },
  },
  'a migration Job that ends': { secrets: DATABASE, migrations: { ttlSecondsAfterFinished: 600 } },
  'resource servers': {
    config: PUBLIC,
    resourceServers: {
      list: [
        {
          ...{ id: 'relay', resource: 'https://relay.example.org', claims: ['login'] },
          programs: { checksScopes: true, scopes: { read: 'Read' }, initial: ['read'] },
        },
        { id: 'edge', resource: 'https://edge.example.org' },
        {
          ...{ id: 'files', resource: 'https://files.example.org' },
          client: { jwksUri: 'https://files.example.org/jwks.json' },
        },
      ],
      clientSecrets: {
        relay: { existingSecret: 'backends' },
        edge: { value: 'a-secret-of-the-edge' },
      },
      programClients: [
        { id: 'inspector', name: 'Inspector', redirectUris: ['http://127.0.0.1/callback'] },
      ],
    },
  },
  'metrics without a token': { metrics: { enabled: true, serviceMonitor: { enabled: true } } },
  'metrics with a token of the values': {
    metrics: { enabled: true, serviceMonitor: { enabled: true } },
    secrets: { METRICS_TOKEN: { existingSecret: 'prometheus', key: 'token' } },
  },
  'metrics with a token in extraEnv': {
    metrics: { enabled: true, serviceMonitor: { enabled: true } },
    extraEnv: [
      { name: 'METRICS_TOKEN', valueFrom: { secretKeyRef: { ...TOKEN, optional: false } } },
    ],
  },
  'metrics with a token in a file': {
    config: { METRICS_TOKEN_FILE: '/mnt/token' },
    metrics: {
      enabled: true,
      serviceMonitor: { enabled: true, authorization: { credentials: TOKEN } },
    },
  },
  'certificates from traefik': forwardedBy('traefik'),
  'certificates from haproxy': forwardedBy('haproxy'),
  'certificates from aws-alb': forwardedBy('aws-alb'),
} satisfies Readonly<Record<string, JsonObject>>;

function forwardedBy(proxy: string): JsonObject {
  const forwarded = { proxy, trustedProxies: ['10.0.0.1'], createProxyConfig: true };
  return {
    config: KEYLESS,
    ingress: { enabled: true, hosts: ['gate.example.org'] },
    mtls: {
      enabled: true,
      forwarded: { ...forwarded, caSecret: 'a/b', awsTrustStoreArn: 'arn:a' },
    },
  };
}
