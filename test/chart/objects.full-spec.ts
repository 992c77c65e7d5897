import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationReport } from '../../src/server/config/environment/configuration-error.js';
import { readProgramClients } from '../../src/server/config/resource-servers/program-clients-file.js';
import { readResourceServers } from '../../src/server/config/resource-servers/resource-servers-file.js';
import { readVersion } from '../../src/common/version.js';
import { helmBinary } from './binaries.js';
import { DATABASE, FEATURES } from './feature-values.js';
import * as chart from './render.js';

const { at, find } = chart;

const helm = await helmBinary(4);
const render = (values: chart.JsonObject) => chart.manifestsWith(helm, values);

describe('the objects of the chart, depending on the values', () => {
  it('keeps the labels of the chart, regardless of the values', async () => {
    // The parser refuses a repeated key.
    const manifests = await render(FEATURES['labels of its own']);
    for (const { metadata, ...rest } of manifests) {
      const own = {
        'app.kubernetes.io/name': 'gatehouse',
        'app.kubernetes.io/instance': 'gate',
      };
      expect(metadata['labels']).toMatchObject({
        ...own,
        'app.kubernetes.io/component': expect.not.stringMatching('other'),
        'app.kubernetes.io/version': readVersion(),
        team: expect.any(String),
      });
      const template = at(rest, 'spec.template.metadata.labels');
      expect(template ?? own).toMatchObject(own);
    }
    const deployment = find(manifests, 'Deployment');
    expect(at(deployment, 'spec.template.metadata.labels')).toMatchObject({
      ...(at(deployment, 'spec.selector.matchLabels') as chart.JsonObject),
      team: 'pods',
    });
    expect(find(manifests, 'Service').metadata['labels']).toMatchObject({ team: 'service' });
  });

  it('pulls the image from the registry of the values, with the secrets of all charts', async () => {
    const image = { registry: 'registry.example.org:5000', repository: 'acme/gatehouse', tag: '1' };
    const podWith = async (values: chart.JsonObject): Promise<chart.Json | undefined> =>
      at(find(await render(values), 'Deployment'), 'spec.template.spec');
    const own = await podWith({ image, imagePullSecrets: [{ name: 'own' }] });
    expect(own).toMatchObject({
      containers: [{ image: 'registry.example.org:5000/acme/gatehouse:1' }],
      imagePullSecrets: [{ name: 'own' }],
    });
    const shared = await podWith({
      image,
      imagePullSecrets: [{ name: 'own' }],
      global: {
        imageRegistry: 'mirror.example.org',
        imagePullSecrets: ['shared', { name: 'own' }],
        storageClass: 'of another chart',
      },
    });
    expect(shared).toMatchObject({
      containers: [{ image: 'mirror.example.org/acme/gatehouse:1' }],
      imagePullSecrets: [{ name: 'own' }, { name: 'shared' }],
    });
  });

  it('mounts the secrets of signals as files, which the providers file names', async () => {
    const values = FEATURES['signals with secrets of the chart and of others'];
    const manifests = await render(values);
    const file = at(find(manifests, 'ConfigMap', 'providers'), 'data') as chart.JsonObject;
    expect(JSON.parse(String(file['providers.json']))).toMatchObject([
      {
        signals: {
          scim: {
            match: 'externalId',
            tokenFile: '/run/secrets/gatehouse/provider.okta.scimToken',
          },
          sharedSignals: {
            managementTokenFile: '/run/secrets/gatehouse/provider.okta.managementToken',
          },
        },
      },
    ]);
    const text = Buffer.from(`${'1'.repeat(32)}\n${'2'.repeat(32)}`).toString('base64');
    expect(at(find(manifests, 'Secret'), 'data')).toEqual({ 'provider.okta.scimToken': text });
    const volumes = at(find(manifests, 'Deployment'), 'spec.template.spec.volumes');
    const { projected } = (volumes as readonly chart.JsonObject[]).find(
      ({ name }) => name === 'secrets',
    ) as { projected: chart.JsonObject };
    expect(projected['sources']).toEqual([
      { secret: { name: 'gatehouse', items: [{ key: 'okta', path: 'provider.okta' }] } },
      {
        secret: {
          name: 'okta-signals',
          items: [{ key: 'managementToken', path: 'provider.okta.managementToken' }],
        },
      },
      {
        secret: {
          name: 'gate-gatehouse',
          items: [{ key: 'provider.okta.scimToken', path: 'provider.okta.scimToken' }],
        },
      },
    ]);
  });

  it('configures the load balancer by the values', async () => {
    const { service } = FEATURES['a load balancer'];
    const manifests = await render({ service });
    expect(at(find(manifests, 'Service'), 'spec')).toMatchObject(service);
    const inside = { ...service, type: 'ClusterIP' };
    const plain = find(await render({ service: inside }), 'Service');
    expect(Object.keys(at(plain, 'spec') ?? {})).toEqual(['type', 'selector', 'ports']);
  });

  it('requests the memory of the first start only with the embedded database', async () => {
    const requestWith = async (values: chart.JsonObject): Promise<chart.Json | undefined> =>
      at(
        find(await render(values), 'Deployment'),
        'spec.template.spec.containers.0.resources.requests.memory',
      );
    expect(await requestWith({})).toBe('1Gi');
    expect(await requestWith({ secrets: DATABASE })).toBe('256Mi');
  });

  it('permits the migration Job the connections of the server, and none from peers', async () => {
    const values = FEATURES['an egress policy'];
    const { rules } = values.networkPolicy.egress;
    const manifests = await render(values);
    const job = find(manifests, 'Job');
    const policy = find(manifests, 'NetworkPolicy', 'migrations');
    expect(at(job, 'spec.template.metadata.labels')).toMatchObject(
      at(policy, 'spec.podSelector.matchLabels') as chart.JsonObject,
    );
    expect(at(policy, 'spec')).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [{ ports: expect.arrayContaining([{ port: 53, protocol: 'UDP' }]) }, ...rules],
    });
    expect(policy.metadata['annotations']).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '-1',
    });
  });

  it('serves the administration API only where it is enabled, to the listed peers', async () => {
    const values = FEATURES['the administration API'];
    const off = await chart.templateWith(helm, {});
    expect(off.stdout).not.toMatch(/-admin|ADMIN_/);
    const manifests = await render(values);
    expect(at(find(manifests, 'ConfigMap'), 'data')).toMatchObject({
      ADMIN_PORT: '3100',
      ADMIN_HOST: '::',
      ADMIN_TOKENS_FILE: '/etc/gatehouse/admin/admin-tokens.json',
      ADMIN_TLS_CERT_PATH: '/etc/gatehouse/admin-tls/tls.crt',
    });
    const pod = at(find(manifests, 'Deployment'), 'spec.template.spec');
    expect(at(pod, 'containers.0.ports')).toContainEqual({
      name: 'admin',
      containerPort: 3100,
      protocol: 'TCP',
    });
    expect(JSON.stringify(at(pod, 'volumes'))).toContain('"secretName":"admins"');
    expect(at(find(manifests, 'Service', 'admin'), 'spec')).toMatchObject({
      type: 'ClusterIP',
      ports: [{ port: 443, targetPort: 'admin' }],
    });
    expect(at(find(manifests, 'NetworkPolicy'), 'spec.ingress')).toContainEqual({
      ports: [{ port: 'admin', protocol: 'TCP' }],
      from: values.networkPolicy.adminFrom,
    });
  });

  it('configures backends that the server accepts, with their secrets as files', async () => {
    const manifests = await render(FEATURES['resource servers']);
    const file = at(find(manifests, 'ConfigMap', 'resource-servers'), 'data') as chart.JsonObject;
    const text = String(file['resource-servers.json']);
    const directory = mkdtempSync(join(tmpdir(), 'gatehouse-chart-'));
    for (const id of ['relay', 'edge']) {
      writeFileSync(join(directory, `resource-server.${id}`), 'a-secret-of-a-backend');
    }
    const report = new ConfigurationReport();
    const programs = readProgramClients(
      {
        AUTH_PROGRAM_CLIENTS_CONFIG_PATH: null,
        AUTH_PROGRAM_CLIENTS_CONFIG_JSON: String(file['program-clients.json']),
      },
      report,
    );
    expect(programs).toMatchObject([{ id: 'inspector' }]);
    const servers = readResourceServers(
      {
        AUTH_RESOURCE_SERVERS_CONFIG_PATH: null,
        AUTH_RESOURCE_SERVERS_CONFIG_JSON: text.replaceAll('/run/secrets/gatehouse', directory),
      },
      {
        ...{ providerIds: [], publicUrl: 'https://gate.example.org' },
        ...{ hostsAccountPage: true, programs },
      },
      report,
    );
    expect(report.problems).toEqual([]);
    expect(servers.map(({ client }) => client.method)).toEqual(['secret', 'secret', 'private-key']);
    const pod = at(find(manifests, 'Deployment'), 'spec.template.spec');
    const volumes = JSON.stringify(at(pod, 'volumes'));
    for (const { name, key, path } of [
      { name: 'backends', key: 'relay', path: 'resource-server.relay' },
      { name: 'gate-gatehouse', key: 'resource-server.edge', path: 'resource-server.edge' },
    ]) {
      expect(volumes).toContain(JSON.stringify({ secret: { name, items: [{ key, path }] } }));
    }
    expect(Object.keys(at(find(manifests, 'Secret'), 'data') as chart.JsonObject)).toEqual([
      'resource-server.edge',
    ]);
    expect(at(pod, 'containers.0.volumeMounts')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ mountPath: '/run/secrets/gatehouse' }),
        expect.objectContaining({ mountPath: '/etc/gatehouse/resource-servers' }),
      ]),
    );
    expect(at(find(manifests, 'ConfigMap'), 'data')).toMatchObject({
      AUTH_RESOURCE_SERVERS_CONFIG_PATH: '/etc/gatehouse/resource-servers/resource-servers.json',
    });
  });

  it('serves HTTPS with the certificate of a Secret, to probes, Services and the test', async () => {
    const manifests = await render(FEATURES['HTTPS on the main port']);
    const pod = at(find(manifests, 'Deployment'), 'spec.template.spec');
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const request = { port: 'https', scheme: 'HTTPS' };
      expect(at(pod, `containers.0.${probe}.httpGet`)).toMatchObject(request);
    }
    expect(at(pod, 'volumes')).toContainEqual({
      name: 'server-tls',
      secret: expect.objectContaining({ secretName: 'gate-tls' }),
    });
    expect(at(pod, 'containers.0.volumeMounts')).toContainEqual({
      name: 'server-tls',
      mountPath: '/etc/gatehouse/server-tls',
      readOnly: true,
    });
    expect(at(find(manifests, 'ConfigMap'), 'data')).toMatchObject({
      SERVICE_TLS_CERT_PATH: '/etc/gatehouse/server-tls/tls.crt',
      SERVICE_TLS_KEY_PATH: '/etc/gatehouse/server-tls/tls.key',
      SERVICE_LOGIN_ORIGINS:
        'https://127.0.0.1:3000,https://localhost:3000,https://gate-gatehouse.default.svc:80',
    });
    expect(at(find(manifests, 'Service'), 'spec.ports')).toEqual([
      { name: 'https', port: 80, targetPort: 'https', protocol: 'TCP', appProtocol: 'https' },
    ]);
    expect(at(find(manifests, 'NetworkPolicy'), 'spec.ingress.0.ports.0.port')).toBe('https');
    const backend = at(find(manifests, 'Ingress'), 'spec.rules.0.http.paths.0.backend');
    expect(backend).toEqual({ service: { name: 'gate-gatehouse', port: { name: 'https' } } });
    const test = at(find(manifests, 'Pod', 'test'), 'spec');
    expect(at(test, 'containers.0.env')).toContainEqual({
      name: 'NODE_EXTRA_CA_CERTS',
      value: '/etc/gatehouse/server-ca/ca.crt',
    });
    expect(JSON.stringify(at(test, 'volumes'))).not.toContain('tls.key');
  });

  it('makes routes to the administration API that are not those of clients', async () => {
    const values = FEATURES['routes to the administration API'];
    const manifests = await render(values);
    const routes = manifests.filter(({ kind }) => ['Ingress', 'HTTPRoute'].includes(kind));
    expect(routes.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['gate-gatehouse-admin', 'gate-gatehouse-admin']),
    );
    expect(routes).toHaveLength(2);
    expect(at(find(manifests, 'Ingress', 'admin'), 'spec')).toMatchObject({
      ingressClassName: 'internal',
      rules: [
        {
          host: 'admin.example.org',
          http: {
            paths: [
              { backend: { service: { name: 'gate-gatehouse-admin', port: { name: 'admin' } } } },
            ],
          },
        },
      ],
    });
    expect(at(find(manifests, 'HTTPRoute', 'admin'), 'spec')).toMatchObject({
      parentRefs: [{ name: 'internal' }],
      rules: [{ backendRefs: [{ name: 'gate-gatehouse-admin', port: 443 }] }],
    });
  });

  it('passes on address families, hooks, labels and the pods that must be available', async () => {
    const values = FEATURES['two address families, hooks and labels'];
    const manifests = await render(values);
    for (const service of manifests.filter(({ kind }) => kind === 'Service')) {
      expect(at(service, 'spec')).toMatchObject(values.service);
    }
    expect(at(find(manifests, 'Deployment'), 'spec.template.spec.containers.0.lifecycle')).toEqual({
      ...values.lifecycle,
      preStop: { sleep: { seconds: 10 } },
    });
    expect(find(manifests, 'ServiceAccount').metadata['labels']).toMatchObject({
      team: 'identity',
      'app.kubernetes.io/name': 'gatehouse',
    });
    const budget = at(find(manifests, 'PodDisruptionBudget'), 'spec');
    expect(budget).toMatchObject({ minAvailable: '50%' });
    expect(budget).not.toHaveProperty('maxUnavailable');
    const preStop = { exec: { command: ['sleep', '5'] } };
    const own = find(await render({ lifecycle: { preStop } }), 'Deployment');
    expect(at(own, 'spec.template.spec.containers.0.lifecycle')).toEqual({ preStop });
  });
});
