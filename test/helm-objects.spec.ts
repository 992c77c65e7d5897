import { readVersion } from '../src/common/version.js';
import { helmBinary } from './chart/binaries.js';
import { FEATURES } from './chart/feature-values.js';
import * as chart from './chart/render.js';

const { at, find } = chart;
const DATABASE = {
  DATABASE_URL: { existingSecret: 'gatehouse' },
  SERVICE_MASTER_SECRET: { existingSecret: 'gatehouse' },
};

let helm: string;

// The first run fetches it.

beforeAll(async () => {
  helm = await helmBinary(4);
});

describe('the objects of the chart, by its values,', () => {
  it('keep their own labels, whatever the values say', async () => {
    const { stdout, stderr } = await chart.templateWith(helm, FEATURES['labels of its own']);
    expect(stderr).toBe('');
    // A key that is there twice is an error of the parser.
    const manifests = chart.manifestsIn(stdout);
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

  it('pull the image from the registry of the values, with the secrets of all charts', async () => {
    const image = { registry: 'registry.example.org:5000', repository: 'acme/gatehouse', tag: '1' };
    const render = async (values: chart.JsonObject): Promise<chart.Json | undefined> =>
      at(
        find(chart.manifestsIn((await chart.templateWith(helm, values)).stdout), 'Deployment'),
        'spec.template.spec',
      );
    const own = await render({ image, imagePullSecrets: [{ name: 'own' }] });
    expect(own).toMatchObject({
      containers: [{ image: 'registry.example.org:5000/acme/gatehouse:1' }],
      imagePullSecrets: [{ name: 'own' }],
    });
    const shared = await render({
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

  it('say how a load balancer serves them', async () => {
    const { service } = FEATURES['a load balancer'];
    const { stdout } = await chart.templateWith(helm, { service });
    const manifests = chart.manifestsIn(stdout);
    expect(at(find(manifests, 'Service'), 'spec')).toMatchObject(service);
    const inside = { ...service, type: 'ClusterIP' };
    const plain = await chart.templateWith(helm, { service: inside });
    expect(Object.keys(at(find(chart.manifestsIn(plain.stdout), 'Service'), 'spec') ?? {})).toEqual(
      ['type', 'selector', 'ports'],
    );
  });

  it('ask for the memory of the first start only with the embedded database', async () => {
    const { stdout } = await chart.templateWith(helm, { secrets: DATABASE });
    const requestOf = (manifests: chart.Manifest[]): chart.Json | undefined =>
      at(
        find(manifests, 'Deployment'),
        'spec.template.spec.containers.0.resources.requests.memory',
      );
    const embedded = await chart.templateWith(helm, {});
    expect(requestOf(chart.manifestsIn(embedded.stdout))).toBe('1Gi');
    expect(requestOf(chart.manifestsIn(stdout))).toBe('256Mi');
  });

  it('let the migration Job reach what the server reaches, and be reached by no peer', async () => {
    const values = FEATURES['an egress policy'];
    const { rules } = values.networkPolicy.egress;
    const { stdout } = await chart.templateWith(helm, values);
    const manifests = chart.manifestsIn(stdout);
    const job = find(manifests, 'Job');
    const policy = find(manifests, 'NetworkPolicy', 'migrations');
    expect(at(job, 'spec.template.metadata.labels')).toMatchObject(
      at(policy, 'spec.podSelector.matchLabels') as chart.JsonObject,
    );
    expect(at(policy, 'spec')).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [{ ports: [{ port: 53 }, { port: 53 }] }, ...rules],
    });
    expect(policy.metadata['annotations']).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '-1',
    });
  });

  it('serve the administration API only where it is switched on, to the peers that are named', async () => {
    const values = FEATURES['the administration API'];
    const off = await chart.templateWith(helm, {});
    expect(off.stdout).not.toMatch(/-admin|ADMIN_/);
    const { stdout, stderr } = await chart.templateWith(helm, values);
    expect(stderr).toBe('');
    const manifests = chart.manifestsIn(stdout);
    expect(at(find(manifests, 'ConfigMap'), 'data')).toMatchObject({
      ADMIN_PORT: '3100',
      ADMIN_HOST: '0.0.0.0',
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
});
