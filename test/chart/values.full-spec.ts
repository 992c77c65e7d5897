import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { VARIABLE_NAMES, variableOf } from '../../src/server/config/settings.js';
import type { Variable } from '../../src/server/config/environment/variable.js';
import { readVersion } from '../../src/common/version.js';
import { Timers } from '../../src/common/runtime/timers.js';
import { MetricsService } from '../../src/server/metrics/metrics.service.js';
import { helmBinary } from './binaries.js';
import { REFUSALS } from './refusals.js';
import * as chart from './render.js';

const { at, find } = chart;
const helm = { 3: await helmBinary(3), 4: await helmBinary(4) };
const ROOT = new URL('../../', import.meta.url);

describe('the chart', () => {
  // Helm 3 has another library for schemas, and the same templates: one refusal of each kind is enough.
  const cases = [
    ...REFUSALS.map((refusal) => ({ ...refusal, major: 4 as const })),
    ...REFUSALS.filter((_refusal, at) => at % 10 === 0).map((refusal) => ({
      ...refusal,
      major: 3 as const,
    })),
  ];

  it.each(cases)('refuses $what with Helm $major', async ({ values, says, major }) => {
    const { code, stderr } = await chart.templateWith(helm[major], values);
    expect(code).not.toBe(0);
    for (const words of says) {
      expect(stderr).toContain(words);
    }
  });
});

describe('the values', () => {
  it('sets every variable of the server', async () => {
    const plain = VARIABLE_NAMES.filter((name) => !variableOf(name).secret);
    const secrets = VARIABLE_NAMES.filter((name) => variableOf(name).secret);
    const samples = plain.map((name) => [name, sampleOf(variableOf(name))]);
    const manifests = await chart.manifestsWith(helm[4], {
      administration: { enabled: true },
      config: Object.fromEntries(samples) as chart.JsonObject,
      secrets: Object.fromEntries(secrets.map((name) => [name, { existingSecret: 'all' }])),
    });
    const server = at(find(manifests, 'Deployment'), 'spec.template.spec.containers.0.env');
    const files = (server as readonly chart.JsonObject[]).map(({ name }) => name);
    const data = at(find(manifests, 'ConfigMap'), 'data') as chart.JsonObject;
    expect([...Object.keys(data), ...files].sort()).toEqual(
      [...plain, ...secrets.map((name) => `${name}_FILE`)].sort(),
    );
  });

  it('lists every value in the schema, which refuses any other', () => {
    const schema = JSON.parse(readFileSync(join(chart.CHART, 'values.schema.json'), 'utf8')) as S;
    const values = parse(readFileSync(join(chart.CHART, 'values.yaml'), 'utf8')) as object;
    expect(Object.keys(schema.properties ?? {}).sort()).toEqual(
      [...Object.keys(values), 'enabled'].sort(),
    );
    // The shared values of a parent chart may have keys of other charts.
    expect(openObjectsIn(schema, '')).toEqual(['.global']);
    expect(JSON.stringify(schema)).not.toMatch(/"\$ref":"(?!#)/);
  });
});

describe.each([
  ['docs/deploy-kubernetes.md', 3],
  ['docs/first-week.md', 1],
])('%s', (name, least) => {
  const page = readFileSync(new URL(name, ROOT), 'utf8');
  const blocks = [...page.matchAll(/^( *)```yaml\n(.*?)^ *```$/gms)].map((match) =>
    (match[2] ?? '').replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  );

  it('shows several blocks of values, which all render', async () => {
    const cases = blocks.map((text): chart.JsonObject => {
      const values = parse(text) as chart.JsonObject;
      const config = values['config'] as chart.JsonObject | undefined;
      const database = { existingSecret: 'gatehouse' };
      const secrets = { DATABASE_URL: database, REDIS_URL: database };
      return {
        ...values,
        config: { SERVICE_PRESET: 'enterprise-optional-encryption', ...config },
        secrets: { ...secrets, SERVICE_MASTER_SECRET: database },
        httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
      };
    });
    expect(cases.length).toBeGreaterThan(least);
    const rendered = await chart.templateAll(helm[3], cases);
    expect(rendered.every((text) => text.includes('kind: Deployment'))).toBe(true);
  });
});

it('gives the chart the version of the server', () => {
  const text = readFileSync(join(chart.CHART, 'Chart.yaml'), 'utf8');
  expect(parse(text)).toMatchObject({ version: readVersion(), appVersion: readVersion() });
});

it.each(['prometheusrule.yaml', '../files/dashboard.json'])(
  'queries only existing metrics in %s',
  (file) => {
    const text = readFileSync(join(chart.CHART, 'templates', file), 'utf8');
    const server = fileURLToPath(new URL('src/server', ROOT));
    const code = readdirSync(server, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.service.ts'))
      .map((path) => readFileSync(join(server, path), 'utf8'))
      .join('');
    const metrics = new MetricsService(new Timers());
    metrics.observeProcess(readVersion(), 'unknown');
    const ofProcess = metrics.registry.getMetricsAsArray().map(({ name }) => name);
    const names = [...text.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+)\{/g)].map((match) => match[1] ?? '');
    expect(names.length).toBeGreaterThan(5);
    for (const name of names.map((one) => one.replace(/_(bucket|count|sum)$/, ''))) {
      expect(name).toMatch(/^gatehouse_/);
      expect(ofProcess.includes(name) || code.includes(`'${name}'`)).toBe(true);
    }
  },
);

interface S {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, S>>;
  readonly additionalProperties?: unknown;
}

/** Returns the paths of objects that have known fields and accept others as well. */
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
  if (variable.type === 'url') {
    return URL.canParse(text);
  }
  return variable.type !== 'string' || variable.pattern?.test(text) !== false;
}
