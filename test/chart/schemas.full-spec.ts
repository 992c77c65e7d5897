import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { helmBinary, kubectlBinary } from './binaries.js';
import { FEATURES } from './feature-values.js';
import * as chart from './render.js';
import { KUBERNETES, problemsOf } from './validate.js';

const { at, find } = chart;
const run = promisify(execFile);
const rendered = new Map<string, string>();

beforeAll(async () => {
  const files = [...chart.VALUES_FILES].map(
    ([name, path]) => [name, chart.valuesIn(path)] as const,
  );
  const cases = [...files, ...Object.entries<chart.JsonObject>(FEATURES)];
  const texts = await chart.templateAll(
    await helmBinary(4),
    cases.map(([, values]) => values),
  );
  cases.forEach(([name], index) => rendered.set(name, texts[index]!));
});

describe('Kubernetes', () => {
  it('accepts in three versions every object of the chart, with strict validation', async () => {
    const objects = new Map<string, chart.Manifest>();
    for (const manifest of [...rendered.values()].flatMap(chart.manifestsIn)) {
      objects.set(JSON.stringify(manifest), manifest);
    }
    expect(objects.size).toBeGreaterThan(80);
    const none = Object.fromEntries(KUBERNETES.map((version) => [version, []]));
    expect(await problemsOf([...objects.values()])).toEqual(none);
  });

  it('refuses unknown fields, wrong types, and fields of newer versions', async () => {
    const problems = await problemsOf([
      budget('misspelt', { maxUnavailble: 1 }),
      budget('boolean', { maxUnavailable: true }),
      { ...budget('removed', {}), apiVersion: 'policy/v1beta1' },
      { ...budget('unknown', {}), apiVersion: 'policy.example.org/v1' },
      pod('since-1.33', { containers: [{ name: 'a', lifecycle: { stopSignal: 'SIGTERM' } }] }),
      pod('since-1.34', { containers: [{ name: 'a' }], hostnameOverride: 'a' }),
    ]);
    const always = ['misspelt', 'boolean', 'removed', 'unknown'];
    expect(namesIn(problems['1.30'])).toEqual(new Set([...always, 'since-1.33', 'since-1.34']));
    expect(namesIn(problems['1.33'])).toEqual(new Set([...always, 'since-1.34']));
    expect(namesIn(problems['1.36'])).toEqual(new Set(always));
  });

  it('has as its oldest version the oldest one that the chart installs on', async () => {
    const text = await readFile(join(chart.CHART, 'Chart.yaml'), 'utf8');
    expect(text).toContain(`kubeVersion: '>=${KUBERNETES[0]}.0-0'`);
  });
});

describe('OpenShift', () => {
  const VOLUMES = ['configMap', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret'];

  it('assigns the ids of every pod, and admits the pods by its default policy', () => {
    const manifests = manifestsOf('openshift');
    const pods = manifests.map(podSpecOf).filter((pod) => pod !== undefined);
    expect(pods).toHaveLength(3);
    for (const pod of pods) {
      expect(JSON.stringify(pod)).not.toMatch(/"(runAsUser|runAsGroup|fsGroup|hostPath|hostPort)"/);
      expect(at(pod, 'securityContext')).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const volume of (at(pod, 'volumes') ?? []) as readonly chart.JsonObject[]) {
        const [kind] = Object.keys(volume).filter((key) => key !== 'name');
        expect(VOLUMES).toContain(kind);
      }
    }
  });

  it('creates a Route from the Ingress', () => {
    const ingress = find(manifestsOf('openshift'), 'Ingress');
    expect(at(ingress, 'spec')).toMatchObject({
      ingressClassName: 'openshift-default',
      rules: [{ host: 'gate.apps.example.org' }],
    });
    expect(ingress.metadata['annotations']).toEqual({ 'route.openshift.io/termination': 'edge' });
  });
});

describe('Kustomize', () => {
  const page = new URL('../../docs/deploy-kubernetes.md', import.meta.url);
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-kustomize-'));
    await writeFile(join(directory, 'gatehouse.yaml'), rendered.get('autoscaled') ?? '');
  });

  async function build(kustomization: string): Promise<chart.Manifest[]> {
    await writeFile(join(directory, 'kustomization.yaml'), kustomization);
    const { stdout } = await run(await kubectlBinary(), ['kustomize', directory]);
    return chart.manifestsIn(stdout);
  }

  it('builds the example of docs/deploy-kubernetes.md', async () => {
    const [, example = ''] =
      /^```yaml \[kustomization.yaml\]\n(.*?)```/ms.exec(await readFile(page, 'utf8')) ?? [];
    const manifests = await build(example);
    const before = manifestsOf('autoscaled');
    expect(manifests.map(nameOf).sort()).toEqual(before.map(nameOf).sort());
    for (const manifest of manifests) {
      expect(manifest.metadata).toMatchObject({
        namespace: 'identity',
        labels: { team: 'identity' },
      });
    }
    const deployment = find(manifests, 'Deployment');
    expect(at(deployment, 'spec.template.metadata.labels')).toMatchObject({ team: 'identity' });
    expect(at(deployment, 'spec.selector')).toEqual(
      at(find(before, 'Deployment'), 'spec.selector'),
    );
    expect(at(deployment, 'spec.template.spec.containers.0')).toMatchObject({
      name: 'gatehouse',
      resources: { limits: { memory: '1Gi' } },
    });
    expect(await problemsOf(manifests)).toEqual(await problemsOf([]));
  });

  it('adds labels to selectors so that each still selects the same pods', async () => {
    const label = 'labels: [{ pairs: { team: identity }, includeSelectors: true }]';
    const manifests = await build(`resources: [gatehouse.yaml]\n${label}\n`);
    const selected = (objects: readonly chart.Manifest[]) =>
      objects.flatMap((one) =>
        selectorsOf(one).map((selector) => [nameOf(one), podsOf(objects, selector)]),
      );
    expect(selected(manifests).sort()).toEqual(selected(manifestsOf('autoscaled')).sort());
    expect(selected(manifests)).toHaveLength(4);
    for (const selector of manifests.flatMap(selectorsOf)) {
      expect(selector).toMatchObject({ team: 'identity', 'app.kubernetes.io/instance': 'gate' });
    }
  });
});

function manifestsOf(name: string): chart.Manifest[] {
  return chart.manifestsIn(rendered.get(name) ?? '');
}

function nameOf({ kind, metadata }: chart.Manifest): string {
  return `${kind}/${metadata.name}`;
}

function podSpecOf(manifest: chart.Manifest): chart.Json | undefined {
  return at(manifest, manifest.kind === 'Pod' ? 'spec' : 'spec.template.spec');
}

function selectorsOf(manifest: chart.Manifest): chart.JsonObject[] {
  const paths =
    manifest.kind === 'Service'
      ? ['selector']
      : ['selector.matchLabels', 'podSelector.matchLabels'];
  return paths
    .map((path) => at(manifest, `spec.${path}`))
    .filter((selector) => selector !== undefined) as chart.JsonObject[];
}

function podsOf(manifests: readonly chart.Manifest[], selector: chart.JsonObject): string[] {
  const makers = manifests.filter((one) => podSpecOf(one) !== undefined);
  const labelsOf = (one: chart.Manifest) =>
    at(
      one,
      one.kind === 'Pod' ? 'metadata.labels' : 'spec.template.metadata.labels',
    ) as chart.JsonObject;
  return makers
    .filter((one) => Object.entries(selector).every(([key, value]) => labelsOf(one)[key] === value))
    .map(nameOf);
}

function budget(name: string, spec: chart.JsonObject): chart.Manifest {
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec };
}

function pod(name: string, spec: chart.JsonObject): chart.Manifest {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
}

function namesIn(problems: readonly string[]): Set<string> {
  return new Set(problems.map((line) => line.replace(/^\w+\/([^:]+):.*$/, '$1')));
}
