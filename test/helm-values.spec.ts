import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { VARIABLE_NAMES, variableOf } from '../src/config/environment/env.js';
import type { Variable } from '../src/config/environment/variable.js';
import { readVersion } from '../src/common/version.js';
import { Metrics } from '../src/metrics/metrics.js';
import { helmBinary, type HelmMajor } from './chart/binaries.js';
import { REFUSALS } from './chart/refusals.js';
import * as chart from './chart/render.js';

const { at, find } = chart;
const MAJORS: readonly HelmMajor[] = [3, 4];
const helm = new Map<HelmMajor, string>();
const ROOT = new URL('../', import.meta.url);
// The first run fetches two binaries.

beforeAll(async () => {
  for (const major of MAJORS) {
    helm.set(major, await helmBinary(major));
  }
});

describe.each(MAJORS)('the chart with Helm %i refuses', (major) => {
  it.each(REFUSALS.map((refusal) => [refusal.what, refusal] as const))(
    '%s',
    async (_what, { values, says }) => {
      const { code, stderr } = await chart.templateWith(binary(major), values);
      expect(code).not.toBe(0);
      for (const words of says) {
        expect(stderr).toContain(words);
      }
    },
  );
});

describe('the values', () => {
  it('reach every variable of the server', async () => {
    const names = VARIABLE_NAMES.map((name) => [name, variableOf(name)] as const);
    const secrets = names.filter(([, { secret }]) => secret);
    const plain = names.filter(([, { secret }]) => !secret);
    const { stdout, stderr } = await chart.templateWith(binary(4), {
      administration: { enabled: true },
      config: Object.fromEntries(plain.map(([name, variable]) => [name, sampleOf(variable)])),
      secrets: Object.fromEntries(secrets.map(([name]) => [name, { existingSecret: 'all' }])),
    });
    expect(stderr).toBe('');
    const manifests = chart.manifestsIn(stdout);
    const server = at(find(manifests, 'Deployment'), 'spec.template.spec.containers.0.env');
    const files = (server as readonly chart.JsonObject[]).map(({ name }) => name);
    const data = at(find(manifests, 'ConfigMap'), 'data') as chart.JsonObject;
    expect([...Object.keys(data), ...files].sort()).toEqual(
      [...plain.map(([name]) => name), ...secrets.map(([name]) => `${name}_FILE`)].sort(),
    );
  });

  it('are all in the schema, which lets no other pass', () => {
    const schema = JSON.parse(readFileSync(join(chart.CHART, 'values.schema.json'), 'utf8')) as S;
    const values = parse(readFileSync(join(chart.CHART, 'values.yaml'), 'utf8')) as object;
    expect(Object.keys(schema.properties ?? {}).sort()).toEqual(
      [...Object.keys(values), 'enabled'].sort(),
    );
    // What a parent chart shares may have keys of other charts.
    expect(openObjectsIn(schema, '')).toEqual(['.global']);
    expect(JSON.stringify(schema)).not.toMatch(/"\$ref":"(?!#)/);
  });
});

describe('docs/deploy-kubernetes.md', () => {
  const page = readFileSync(new URL('docs/deploy-kubernetes.md', ROOT), 'utf8');
  const blocks = [...page.matchAll(/^( *)```yaml\n(.*?)^ *```$/gms)].map((match) =>
    (match[2] ?? '').replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  );

  it('shows values', () => {
    expect(blocks.length).toBeGreaterThan(3);
  });

  it.each(blocks.map((text) => [text.split('\n').slice(0, 3).join(' '), text]))(
    'shows values that render: %s',
    async (_start, text) => {
      const shown = parse(text) as chart.JsonObject;
      const shownConfig = shown['config'] as chart.JsonObject | undefined;
      const database = { existingSecret: 'gatehouse' };
      const secrets = { DATABASE_URL: database, REDIS_URL: database };
      const { stderr } = await chart.templateWith(binary(3), {
        ...shown,
        config: { SERVICE_PRESET: 'enterprise-optional-encryption', ...shownConfig },
        secrets: { ...secrets, SERVICE_MASTER_SECRET: database },
        httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
      });
      expect(stderr).toBe('');
    },
  );
});

it('the chart has the version of the server', () => {
  const text = readFileSync(join(chart.CHART, 'Chart.yaml'), 'utf8');
  expect(parse(text)).toMatchObject({ version: readVersion(), appVersion: readVersion() });
});

it.each(['prometheusrule.yaml', '../files/dashboard.json'])('%s asks for real metrics', (file) => {
  const asked = readFileSync(join(chart.CHART, 'templates', file), 'utf8');
  const sources = [
    'metrics/metrics.ts',
    'health/metrics-page.ts',
    'offboarding/offboarding.job.ts',
    'offboarding/signals/rule-signals.ts',
  ];
  const code = sources.map((path) => readFileSync(new URL(`src/${path}`, ROOT), 'utf8')).join('');
  const metrics = new Metrics();
  metrics.observeProcess(readVersion());
  const ofProcess = metrics.registry.getMetricsAsArray().map(({ name }) => name);
  const names = [...asked.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+)\{/g)].map((match) => match[1] ?? '');
  expect(names.length).toBeGreaterThan(5);
  for (const name of names.map((one) => one.replace(/_(bucket|count|sum)$/, ''))) {
    expect(name).toMatch(/^gatehouse_/);
    const inCode = name.replace(/^(gatehouse_database_pool_)\w+$/, '$1${state}');
    expect(ofProcess.includes(name) || code.includes(inCode)).toBe(true);
  }
});

interface S {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, S>>;
  readonly additionalProperties?: unknown;
}

/** The paths of objects whose fields are known and that take others as well. */
function openObjectsIn(schema: S, path: string): string[] {
  const inner = Object.entries(schema.properties ?? {});
  const isOpen = inner.length > 0 && schema.additionalProperties !== false;
  return [
    ...(isOpen ? [path] : []),
    ...inner.flatMap(([name, one]) => openObjectsIn(one, `${path}.${name}`)),
  ];
}

function sampleOf(variable: Variable): chart.Json {
  switch (variable.type) {
    case 'boolean':
      return true;
    case 'integer':
      return Math.max(variable.min, 1);
    case 'enum':
      return variable.values[0] ?? '';
    case 'csv':
      return variable.values?.[0] ?? ['a', 'b'];
    case 'cidrs':
      return ['10.0.0.0/8', '::1'];
    default:
      return variable.default ?? samplesOf(variable).find((text) => fits(variable, text)) ?? '';
  }
}

const samplesOf = ({ doc }: Variable): string[] =>
  doc.includes('preset') ? ['default'] : ['1', 'https://app.example.com/requests'];

function fits(variable: Variable, text: string): boolean {
  return variable.type !== 'string' || variable.pattern?.test(text) !== false;
}

function binary(major: HelmMajor): string {
  return helm.get(major) ?? 'helm';
}
