import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helmBinary } from './binaries.js';
import { FEATURES, FORWARDED } from './feature-values.js';
import * as chart from './render.js';
import { validateValues } from './validate.js';

const { at, find } = chart;
const DATABASE = {
  DATABASE_URL: { existingSecret: '{{ .Release.Name }}-database' },
  SERVICE_MASTER_SECRET: { existingSecret: 'gatehouse' },
};

const helm = await helmBinary(4);

const render = (values: chart.JsonObject) => chart.manifestsWith(helm, values);

describe('texts of the values', () => {
  it('evaluates templates in names, host names and annotations of objects', async () => {
    const manifests = await render({
      global: { domain: 'example.org', level: 'debug', isOpen: false, port: 8080 },
      fullnameOverride: '{{ .Release.Name }}-keeper',
      secrets: DATABASE,
      config: {
        SERVICE_PUBLIC_URL: 'https://gate.{{ .Values.global.domain }}',
        SERVICE_LOG_LEVEL: '{{ .Values.global.level }}',
        AUTH_ANONYMOUS_SIGNUP_ENABLED: '{{ .Values.global.isOpen }}',
        PORT: '{{ .Values.global.port }}',
        SERVICE_TRUSTED_PROXIES: ['{{ "10.0.0.0/8" }}'],
      },
      ingress: {
        enabled: true,
        hosts: ['gate.{{ .Values.global.domain }}'],
        annotations: { owner: '{{ .Release.Namespace | quote }}' },
        tls: [
          { secretName: '{{ .Release.Name }}-tls', hosts: ['gate.{{ .Values.global.domain }}'] },
        ],
      },
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: '{{ .Release.Name }}-gateway', port: 443 }],
        hostnames: ['gate.{{ .Values.global.domain }}'],
      },
      podAnnotations: { 'agent/template': '{{ with secret "db" }}{{ .Data }}{{ end }}' },
    });
    const ingress = find(manifests, 'Ingress');
    expect(ingress.metadata).toMatchObject({
      name: 'gate-keeper',
      annotations: { owner: '"default"' },
    });
    expect(ingress['spec']).toMatchObject({
      rules: [{ host: 'gate.example.org' }],
      tls: [{ secretName: 'gate-tls', hosts: ['gate.example.org'] }],
    });
    expect(find(manifests, 'HTTPRoute')['spec']).toMatchObject({
      parentRefs: [{ name: 'gate-gateway', port: 443 }],
      hostnames: ['gate.example.org'],
    });
    expect(at(find(manifests, 'ConfigMap'), 'data')).toMatchObject({
      ...{ SERVICE_PUBLIC_URL: 'https://gate.example.org', SERVICE_LOG_LEVEL: 'debug' },
      ...{ AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false', PORT: '8080' },
      SERVICE_TRUSTED_PROXIES: '10.0.0.0/8',
      SERVICE_LOGIN_ORIGINS: 'http://gate-keeper.default.svc:80',
    });
    const template = at(find(manifests, 'Deployment'), 'spec.template');
    expect(JSON.stringify(at(template, 'spec.volumes'))).toContain('"name":"gate-database"');
    // Agents have templates of their own in annotations of pods.
    expect(at(template, 'metadata.annotations')).toMatchObject({
      'agent/template': '{{ with secret "db" }}{{ .Data }}{{ end }}',
    });
  });

  it('names the evaluated host and the namespaces of objects and release in the notes', async () => {
    const file = chart.VALUES_FILES.get('default') ?? '';
    const ingress = { enabled: true, hosts: ['{{ .Release.Name }}.example.org'] };
    const more = ['--set', 'namespaceOverride=identity', '--set-json'];
    const text = await chart.notes(helm, file, ...more, `ingress=${JSON.stringify(ingress)}`);
    expect(text).toContain('curl http://gate.example.org/v1/features');
    expect(text).toContain('kubectl -n identity rollout status');
    expect(text).toContain('helm test -n default gate');
  });

  it.each(['0123', '1e3', 'true', 'null'])('keeps the name %s a text', async (name) => {
    const manifests = await render({
      nameOverride: name,
      fullnameOverride: name,
      namespaceOverride: name,
      serviceAccount: { name },
      tls: { existingSecret: name, caKey: name },
      ingress: { enabled: true, className: name, hosts: [name], tls: [{ secretName: name }] },
      persistence: { existingClaim: name },
    });
    for (const manifest of manifests) {
      await validateValues(manifest);
      expect(manifest.metadata).toMatchObject({
        name: expect.stringMatching(`^${name}(-[a-z]+)?$`),
        namespace: name,
        labels: { 'app.kubernetes.io/name': name },
      });
    }
    const pod = at(find(manifests, 'Deployment'), 'spec.template.spec');
    expect(pod).toMatchObject({ serviceAccountName: name });
    expect(JSON.stringify(at(pod, 'volumes'))).toContain(`"claimName":"${name}"`);
  });

  it('puts every object into the namespace of the values, and addresses it there', async () => {
    const manifests = await render({
      ...FEATURES['certificates from traefik'],
      namespaceOverride: 'identity',
      metrics: { enabled: true, prometheusRule: { enabled: true } },
    });
    expect(new Set(manifests.map(({ metadata }) => metadata['namespace']))).toEqual(
      new Set(['identity']),
    );
    const text = JSON.stringify(manifests);
    expect(text).toContain('gate-gatehouse.identity.svc');
    expect(text).toContain('identity-gate-gatehouse-mtls@kubernetescrd');
    expect(text).toContain('namespace=\\"identity\\"');
    expect(text).not.toMatch(/\.default\.svc|default-gate|\\"default\\"/);
  });

  it('adds common annotations to every object, under those of the object', async () => {
    const manifests = await render({
      commonAnnotations: { owner: 'team-{{ .Release.Name }}', tier: 'common' },
      service: { annotations: { tier: 'service' } },
      secrets: DATABASE,
    });
    for (const { metadata } of manifests) {
      expect(metadata['annotations']).toMatchObject({ owner: 'team-gate' });
    }
    expect(find(manifests, 'Service').metadata['annotations']).toMatchObject({ tier: 'service' });
    expect(find(manifests, 'Job').metadata['annotations']).toMatchObject({
      tier: 'common',
      'helm.sh/hook': 'pre-install,pre-upgrade',
    });
  });
});

describe('the claim', () => {
  it.each([
    [{}, undefined, ['ReadWriteOnce']],
    [{ storageClassName: '' }, undefined, ['ReadWriteOnce']],
    [{ storageClassName: '-' }, '', ['ReadWriteOnce']],
    [{ storageClassName: '1', accessModes: ['ReadWriteOncePod'] }, '1', ['ReadWriteOncePod']],
  ])('has with %j the class %j and the modes %j', async (persistence, name, accessModes) => {
    const claim = find(await render({ persistence }), 'PersistentVolumeClaim');
    expect(at(claim, 'spec.storageClassName')).toBe(name);
    expect(at(claim, 'spec.accessModes')).toEqual(accessModes);
  });
});

describe('the Ingress', () => {
  it('has further paths before the one of the chart, under each host', async () => {
    const redirect = {
      path: '/',
      pathType: 'Prefix',
      backend: { service: { name: 'ssl-redirect', port: { name: 'use-annotation' } } },
    };
    const hosts = ['a.example.org', 'b.example.org'];
    const ingress = find(
      await render({ ingress: { enabled: true, hosts, extraPaths: [redirect] } }),
      'Ingress',
    );
    const rules = at(ingress, 'spec.rules') as readonly chart.JsonObject[];
    expect(rules).toHaveLength(2);
    for (const rule of rules) {
      expect(at(rule, 'http.paths')).toEqual([redirect, expect.objectContaining({ path: '/' })]);
    }
  });

  it('keeps middlewares of the values before the one for client certificates', async () => {
    const name = 'traefik.ingress.kubernetes.io/router.middlewares';
    const own = 'default-gate-gatehouse-mtls@kubernetescrd';
    const middlewaresWith = async (given: string): Promise<chart.Json | undefined> => {
      const ingress = { enabled: true, hosts: ['a.example.org'], annotations: { [name]: given } };
      const forwarded = { ...FORWARDED, proxy: 'traefik' };
      const manifests = await render({ ingress, mtls: { enabled: true, forwarded } });
      return (find(manifests, 'Ingress').metadata['annotations'] as chart.JsonObject)[name];
    };
    expect(await middlewaresWith('infra-limit@kubernetescrd')).toBe(
      `infra-limit@kubernetescrd,${own}`,
    );
    expect(await middlewaresWith(`${own}, infra-limit@kubernetescrd`)).toBe(
      `${own}, infra-limit@kubernetescrd`,
    );
  });
});

describe('options of single objects', () => {
  it('passes on the label of the job and TLS of a scrape', async () => {
    const tlsConfig = { insecureSkipVerify: true };
    const serviceMonitor = { enabled: true, jobLabel: 'app.kubernetes.io/name', tlsConfig };
    const manifests = await render({ metrics: { enabled: true, serviceMonitor } });
    expect(find(manifests, 'ServiceMonitor')['spec']).toMatchObject({
      jobLabel: 'app.kubernetes.io/name',
      endpoints: [{ scheme: 'https', tlsConfig }],
    });
    const plain = await render(FEATURES['metrics without a token']);
    expect(at(find(plain, 'ServiceMonitor'), 'spec.endpoints.0')).not.toHaveProperty('scheme');
  });

  it('publishes pods that are not ready to scrapes, and to no client', async () => {
    const manifests = await render({ metrics: { enabled: true } });
    expect(at(find(manifests, 'Service', 'metrics'), 'spec.publishNotReadyAddresses')).toBe(true);
    expect(find(manifests, 'Service')['spec']).not.toHaveProperty('publishNotReadyAddresses');
  });

  it('deletes the finished Job after the seconds of the values', async () => {
    const jobWith = async (migrations: chart.JsonObject): Promise<chart.Json | undefined> =>
      find(await render({ secrets: DATABASE, migrations }), 'Job')['spec'];
    expect(await jobWith({ ttlSecondsAfterFinished: 0 })).toMatchObject({
      ttlSecondsAfterFinished: 0,
    });
    expect(await jobWith({})).not.toHaveProperty('ttlSecondsAfterFinished');
  });

  it('lets pods of a limited egress ask the DNS of OpenShift', async () => {
    const manifests = await render(FEATURES['an egress policy']);
    for (const policy of manifests.filter(({ kind }) => kind === 'NetworkPolicy')) {
      expect(at(policy, 'spec.egress.0.ports')).toEqual([
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
        { port: 5353, protocol: 'UDP' },
        { port: 5353, protocol: 'TCP' },
      ]);
    }
  });
});

it('renders with the values of the chart 0.1.0 as with its own', async () => {
  // With --reuse-values the values of the installed chart replace those of this one.
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-reuse-'));
  const old = join(directory, 'gatehouse');
  const files = ['default', 'observed', 'extended', 'autoscaled', 'mtls-direct'].map(
    (name) => chart.VALUES_FILES.get(name) ?? '',
  );
  await cp(chart.CHART, old, { recursive: true });
  await cp(join(import.meta.dirname, 'values-0.1.0.yaml'), join(old, 'values.yaml'));
  for (const file of files) {
    const reused = await chart.runHelm(helm, ['template', 'gate', old, '-f', file]);
    expect(reused).toMatchObject({ code: 0, stderr: '' });
    expect(reused.stdout).toBe((await chart.template(helm, file)).stdout);
  }
});
