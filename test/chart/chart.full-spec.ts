import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helmBinary, type HelmMajor } from './binaries.js';
import * as chart from './render.js';
import { DATABASE, FEATURES } from './feature-values.js';
import { validateValues } from './validate.js';

const { at, CHART, find } = chart;
const FILES = [...chart.VALUES_FILES];
const MAJORS: readonly HelmMajor[] = [3, 4];
const helm = { 3: await helmBinary(3), 4: await helmBinary(4) };
/** Text by the name of the file. */
const texts = new Map<HelmMajor, ReadonlyMap<string, string>>();
/** By the name of the file, with Helm 4. */
const rendered = new Map<string, chart.Manifest[]>();

beforeAll(async () => {
  const values = FILES.map(([, path]) => chart.valuesIn(path));
  for (const major of MAJORS) {
    const all = await chart.templateAll(helm[major], values);
    texts.set(major, new Map(FILES.map(([name], index) => [name, all[index]!])));
  }
  for (const [name] of FILES) {
    rendered.set(name, chart.manifestsIn(textOf(4, name)));
  }
});

describe.each(MAJORS)('the chart with Helm %i', (major) => {
  // The templates are the same text: Helm 3 lints the values that use most of them.
  const linted = FILES.filter(([name]) => major === 4 || name === 'extended');

  it.each(linted)('passes the strict lint with %s', async (_name, path) => {
    const result = await chart.runHelm(helm[major], ['lint', '--strict', CHART, '-f', path]);
    expect(result).toMatchObject({ code: 0 });
  });

  it('renders the same bytes alone and as a dependency, without a network', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'gatehouse-chart-'));
    const about = { apiVersion: 'v2', name: 'parent', version: '1.0.0' };
    // Its values delete some of the chart.
    const gatehouse = chart.valuesIn(chart.VALUES_FILES.get('extended') ?? '');
    await cp(CHART, join(parent, 'charts/gatehouse'), { recursive: true });
    await writeFile(join(parent, 'Chart.yaml'), JSON.stringify(about));
    await writeFile(join(parent, 'values.yaml'), JSON.stringify({ gatehouse }));
    const { stdout, stderr } = await chart.runHelm(helm[major], ['template', 'gate', parent]);
    expect(stderr).toBe('');
    const text = stdout.replaceAll('# Source: parent/charts/', '# Source: ');
    expect(text).toBe(textOf(major, 'extended'));
  });
});

describe.each(FILES)('the chart with %s', (name) => {
  it('renders the same bytes with Helm 3 and Helm 4', () => {
    expect(textOf(3, name)).toContain('kind: Deployment');
    expect(textOf(3, name)).toBe(textOf(4, name));
  });

  it('renders objects that their validators accept', async () => {
    for (const manifest of manifestsOf(name)) {
      await validateValues(manifest);
    }
  });

  it('hardens every pod of the chart', () => {
    const pods = manifestsOf(name).flatMap(podSpecOf);
    expect(pods.length).toBeGreaterThan(1);
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(at(pod, 'containers.0.securityContext')).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });
});

describe('the objects of the chart', () => {
  it('declares as hooks only the migration Job, its dependencies and the test', () => {
    const hooks = [...rendered.values()].flat().filter(({ metadata }) => {
      return (metadata['annotations'] as chart.JsonObject | undefined)?.['helm.sh/hook'];
    });
    expect(new Set(hooks.map(({ kind }) => kind))).toEqual(
      new Set(['ConfigMap', 'Job', 'NetworkPolicy', 'Pod']),
    );
  });

  it('leaves the number of replicas to the autoscaler', () => {
    expect(at(find(manifestsOf('autoscaled'), 'Deployment'), 'spec')).not.toHaveProperty(
      'replicas',
    );
    expect(at(find(manifestsOf('default'), 'Deployment'), 'spec.replicas')).toBe(1);
  });

  it('gives the pod time for the sleep, the drain and a margin', () => {
    const pod = at(find(manifestsOf('autoscaled'), 'Deployment'), 'spec.template.spec');
    expect(at(pod, 'terminationGracePeriodSeconds')).toBe(80);
    expect(at(pod, 'containers.0.lifecycle.preStop')).toEqual({ sleep: { seconds: 10 } });
  });

  it('renders large numbers as the server reads them', () => {
    const config = at(find(manifestsOf('autoscaled'), 'ConfigMap'), 'data');
    expect(config).toMatchObject({
      AUTH_TOKEN_TTL_SECONDS: '2592000',
      SERVICE_BODY_LIMIT_BYTES: '16777216',
    });
  });

  it.each([
    [{}, 'http://127.0.0.1:3000,http://localhost:3000,'],
    [{ SERVICE_PUBLIC_URL: 'https://gate.example' }, ''],
    [
      { SERVICE_LOGIN_ORIGINS: ['https://a.example', 'https://b.example'] },
      'https://a.example,https://b.example,',
    ],
  ])('permits logins with %j at the address of the Service', async (config, before) => {
    const manifests = await chart.manifestsWith(helm[4], { config });
    const pod = at(find(manifests, 'Pod'), 'spec.containers.0.env.0');
    const origins = at(find(manifests, 'ConfigMap'), 'data.SERVICE_LOGIN_ORIGINS');
    expect(pod).toMatchObject({
      name: 'GATEHOUSE_SERVER',
      value: expect.stringContaining('.svc:'),
    });
    expect(origins).toBe(`${before}${(pod as chart.JsonObject)['value']}`);
  });

  it('restarts the pods when the configuration changes', async () => {
    const checksum = async (values: chart.JsonObject) => {
      const deployment = find(await chart.manifestsWith(helm[4], values), 'Deployment');
      return (at(deployment, 'spec.template.metadata.annotations') as chart.JsonObject)[
        'checksum/config'
      ];
    };
    expect(await checksum({ config: { SERVICE_LOG_LEVEL: 'warn' } })).not.toBe(await checksum({}));
    expect(await checksum({ podLabels: { a: 'b' } })).toBe(await checksum({}));
  });
});

describe('client certificates', () => {
  it('makes Envoy Gateway replace the header, with the certificate in it', () => {
    const policy = find(manifestsOf('mtls-envoy-gateway'), 'ClientTrafficPolicy');
    expect(at(policy, 'spec')).toMatchObject({
      targetRefs: [{ kind: 'Gateway', name: 'public' }],
      headers: {
        xForwardedClientCert: { mode: 'SanitizeSet', certDetailsToAdd: ['Cert', 'Chain'] },
      },
      tls: { clientValidation: { optional: true, caCertificateRefs: [{ name: 'client-ca' }] } },
    });
  });

  it('configures annotations of ingress-nginx, with a warning of its weakness', async () => {
    const ingress = find(manifestsOf('mtls-ingress-nginx'), 'Ingress');
    expect(at(ingress, 'metadata.annotations')).toEqual({
      'nginx.ingress.kubernetes.io/auth-tls-secret': 'gateways/client-ca',
      'nginx.ingress.kubernetes.io/auth-tls-verify-client': 'on',
      'nginx.ingress.kubernetes.io/auth-tls-pass-certificate-to-upstream': 'true',
    });
    const path = chart.VALUES_FILES.get('mtls-ingress-nginx') ?? '';
    expect(await chart.notes(helm[4], path)).toContain('passes on headers that the client made');
  });

  it.each([
    ['traefik', 'Middleware', 'router.middlewares', 'default-gate-gatehouse-mtls@kubernetescrd'],
    ['haproxy', 'Ingress', 'auth-tls-cert-header', 'true'],
    ['aws-alb', 'Ingress', 'mutual-authentication', '"trustStore":"arn:a"'],
  ] as const)('forwards certificates with %s', async (proxy, kind, annotation, value) => {
    const values = FEATURES[`certificates from ${proxy}`];
    const manifests = await chart.manifestsWith(helm[4], values);
    find(manifests, kind);
    const annotations = Object.entries(
      at(find(manifests, 'Ingress'), 'metadata.annotations') as chart.JsonObject,
    );
    expect(annotations.find(([name]) => name.endsWith(annotation))?.[1]).toContain(value);
  });
});

describe('the metrics', () => {
  const PEER = { podSelector: { matchLabels: { app: 'prometheus' } } };
  const render = (values: chart.JsonObject) => chart.manifestsWith(helm[4], values);
  const metricsRules = (manifests: chart.Manifest[]): chart.Json[] =>
    (at(find(manifests, 'NetworkPolicy'), 'spec.ingress') as chart.Json[]).filter(
      (rule) => at(rule, 'ports.0.port') === 'metrics',
    );

  it('permits no peer to read the metrics unless some are listed', async () => {
    const enabled = { metrics: { enabled: true } };
    expect(metricsRules(await render(enabled))).toEqual([]);
    const named = await render({ ...enabled, networkPolicy: { metricsFrom: [PEER] } });
    expect(metricsRules(named)).toEqual([
      { ports: [{ port: 'metrics', protocol: 'TCP' }], from: [PEER] },
    ]);
    expect(metricsRules(manifestsOf('observed'))).toHaveLength(1);
  });

  it.each<[string, chart.JsonObject, string]>([
    ['metrics.enabled', { metrics: { enabled: true } }, '::'],
    ['config.METRICS_PORT', { config: { METRICS_PORT: 9464 } }, '::'],
    ['extraEnv', { extraEnv: [{ name: 'METRICS_PORT', value: '9464' }] }, '::'],
    ['an IPv4 network', { metrics: { enabled: true }, config: { HOST: '0.0.0.0' } }, '0.0.0.0'],
    [
      'an address of the operator',
      { metrics: { enabled: true }, config: { METRICS_HOST: '127.0.0.1' } },
      '127.0.0.1',
    ],
  ])('listens where a scrape of the pod arrives, with %s', async (_how, values, host) => {
    const manifests = await render(values);
    expect(at(find(manifests, 'ConfigMap'), 'data.METRICS_HOST')).toBe(host);
    const ports = at(find(manifests, 'Deployment'), 'spec.template.spec.containers.0.ports');
    expect(ports).toContainEqual(expect.objectContaining({ name: 'metrics' }));
  });

  const withToken = { type: 'Bearer', credentials: { name: 'prometheus', key: 'token' } };
  it.each([
    ['without a token', undefined],
    ['with a token of the values', withToken],
    ['with a token in extraEnv', withToken],
    ['with a token in a file', withToken],
  ] as const)('configures scraping %s', async (how, authorization) => {
    const manifests = await render(FEATURES[`metrics ${how}`]);
    const monitor = find(manifests, 'ServiceMonitor');
    expect(at(monitor, 'spec.endpoints.0.authorization')).toEqual(authorization);
  });

  it('warns of metrics that no peer or every pod can read', async () => {
    const path = chart.VALUES_FILES.get('values') ?? '';
    const notesWith = (...values: string[]): Promise<string> =>
      chart.notes(helm[4], path, ...values.flatMap((value) => ['--set', value]));
    const closed = 'networkPolicy.metricsFrom is empty';
    const open = 'reads the metrics';
    const [off, on, unguarded] = await Promise.all([
      notesWith(),
      notesWith('metrics.enabled=true'),
      notesWith('metrics.enabled=true', 'networkPolicy.enabled=false'),
    ]);
    expect([off.includes(closed), off.includes(open)]).toEqual([false, false]);
    expect([on.includes(closed), on.includes(open)]).toEqual([true, false]);
    expect([unguarded.includes(closed), unguarded.includes(open)]).toEqual([false, true]);
  });
});

describe('the migration Job', () => {
  const job = () => find(manifestsOf('values-enterprise-keyless'), 'Job');

  it('needs no object of the release that it precedes', () => {
    const pod = at(job(), 'spec.template.spec');
    const text = JSON.stringify(pod);
    expect(text).not.toContain('configMap');
    expect(at(pod, 'serviceAccountName')).toBe('default');
    const secrets = [...text.matchAll(/"secret":\{"name":"([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(secrets)).toEqual(new Set(['gatehouse']));
  });

  it('has the variables that gatehouse migrate needs, and no policy', () => {
    expect(at(job(), 'spec.template.spec.containers.0.env')).toEqual(
      ['DATABASE_URL', 'SERVICE_MASTER_SECRET'].map((name) => ({
        name: `${name}_FILE`,
        value: `/run/secrets/gatehouse/${name}`,
      })),
    );
  });

  it('trusts the same certificate authorities as the server, and is there after them', () => {
    const manifests = manifestsOf('private-network');
    const pods = ['Deployment', 'Job'].map((kind) =>
      at(find(manifests, kind), 'spec.template.spec'),
    );
    const pems = pods.map((pod) => {
      const volumes = at(pod, 'volumes') as readonly chart.JsonObject[];
      const mounts = at(pod, 'containers.0.volumeMounts') as readonly chart.JsonObject[];
      const name = at(
        volumes.find((volume) => volume['name'] === 'ca-bundle'),
        'configMap.name',
      );
      const mounted = mounts.find((mount) => mount['name'] === 'ca-bundle');
      expect(mounted).toMatchObject({ mountPath: '/etc/gatehouse/ca-bundle' });
      return at(
        manifests.find((one) => one.kind === 'ConfigMap' && one.metadata.name === name),
        'data',
      );
    });
    expect(pems[0]).toEqual({ 'ca.crt': expect.stringContaining('BEGIN CERTIFICATE') });
    expect(pems[1]).toEqual(pems[0]);
    expect(at(pods[1], 'containers.0.env')).toContainEqual({
      name: 'SERVICE_CA_BUNDLE',
      value: '/etc/gatehouse/ca-bundle/ca.crt',
    });
    expect(find(manifests, 'ConfigMap', 'migrations-ca').metadata['annotations']).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '-1',
    });
  });

  it('receives the variables of extraEnv for other programs, and no policy of it', async () => {
    const extraEnv = ['NODE_EXTRA_CA_CERTS', 'PGSSLROOTCERT', 'METRICS_PORT', 'OTEL_SDK_DISABLED'];
    const manifests = await chart.manifestsWith(helm[4], {
      secrets: DATABASE,
      extraEnv: extraEnv.map((name) => ({ name, value: '1' })),
    });
    const container = at(find(manifests, 'Job'), 'spec.template.spec.containers.0');
    expect((at(container, 'env') as chart.JsonObject[]).map(({ name }) => name)).toEqual([
      ...[
        'DATABASE_URL_FILE',
        'SERVICE_MASTER_SECRET_FILE',
        'NODE_EXTRA_CA_CERTS',
        'PGSSLROOTCERT',
      ],
    ]);
  });

  it('is an ordinary object where its hook annotations are set to null', () => {
    const { metadata } = find(manifestsOf('extended'), 'Job');
    expect(metadata['annotations']).toEqual({ 'argocd.argoproj.io/hook': 'Sync' });
  });
});

function podSpecOf(manifest: chart.Manifest): chart.Json[] {
  const path = manifest.kind === 'Pod' ? 'spec' : 'spec.template.spec';
  const pod = at(manifest, path);
  return pod === undefined ? [] : [pod];
}

function textOf(major: HelmMajor, name: string): string {
  return texts.get(major)!.get(name)!;
}

function manifestsOf(name: string): chart.Manifest[] {
  return rendered.get(name) ?? [];
}
