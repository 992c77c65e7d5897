import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigurationError,
  ConfigurationReport,
} from '../../src/server/config/environment/configuration-error.js';
import { gatherTexts, readValues } from '../../src/server/config/read-environment.js';
import { resolveSettings } from '../../src/server/config/resolve-settings.js';
import { VARIABLE_RULES } from '../../src/server/config/rules/variable-rules.js';
import { VARIABLE_NAMES, variableOf, type VariableName } from '../../src/server/config/settings.js';
import { holds, namesIn, type Condition } from '../../src/core/policy/findings/condition.js';
import { POLICY_CONFLICTS } from '../../src/core/policy/findings/policy-conflicts.js';
import { helmBinary } from './binaries.js';
import { at, CHART, manifestsIn, runHelm } from './render.js';

type Environment = Readonly<Record<string, string>>;

/** The order of files/rules.json. */
const CONDITIONS: readonly Condition[] = [
  ...VARIABLE_RULES,
  ...Object.values(POLICY_CONFLICTS),
].map(({ when }) => when);
const NAMES = [...new Set(CONDITIONS.flatMap(namesIn))] as VariableName[];
/** A port that no default has. */
const PORT = '4100';

const SAMPLES: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://db.example/gatehouse',
  REDIS_CLUSTER_NODES: 'redis.example:6379',
  REDIS_SENTINELS: 'redis.example:26379',
  SERVICE_FEATURE_AUTH_MTLS__CRL_URLS: 'https://pki.example/issuing.crl',
  SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS: 'pki.example',
  SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES: '10.0.0.1',
};

/** Returns variables under which the condition is true, or false. */
function witness(condition: Condition, isTrue = true): Environment {
  if ('not' in condition) {
    return witness(condition.not, !isTrue);
  }
  if ('all' in condition || 'any' in condition) {
    const parts = 'all' in condition ? condition.all : condition.any;
    const needsAll = 'all' in condition === isTrue;
    const used = needsAll ? parts : parts.slice(0, 1);
    return Object.assign({}, ...used.map((part) => witness(part, isTrue))) as Environment;
  }
  if ('samePort' in condition) {
    return Object.fromEntries(condition.samePort.map((name) => [name, PORT]));
  }
  if ('on' in condition) {
    return { [condition.on]: String(isTrue) };
  }
  if (!isTrue) {
    return {};
  }
  if ('set' in condition) {
    return { [condition.set]: sampleOf(condition.set) };
  }
  if ('usable' in condition) {
    return {};
  }
  const [name, text] = 'is' in condition ? condition.is : condition.lists;
  return { [name]: text };
}

function sampleOf(name: string): string {
  const { type } = variableOf(name as VariableName);
  return (
    SAMPLES[name] ??
    { integer: PORT, url: 'https://gate.example', path: '/mnt/a' }[type as string] ??
    'sample'
  );
}

function firedOnServer(environment: Environment): number[] {
  const report = new ConfigurationReport();
  const values = readValues(gatherTexts(environment, report), report);
  expect(report.problems).toEqual([]);
  const facts = {
    valueOf: (name: string) => values[name as VariableName],
    providers: ['okta'],
  };
  return CONDITIONS.flatMap((condition, index) => (holds(condition, facts) ? [index] : []));
}

/** The texts that `gatehouse.ruleFacts` would find. */
function factsOf(environment: Environment) {
  const texts = NAMES.map((name) => {
    const value = variableOf(name).default;
    return [
      name,
      environment[name] ?? (Array.isArray(value) ? value.join(',') : String(value ?? '')),
    ];
  });
  return { texts: Object.fromEntries(texts) as Environment, unknown: [], providers: ['okta'] };
}

const TEMPLATE = `
{{- $rules := .Files.Get "files/rules.json" | fromJsonArray -}}
{{- $all := list -}}
{{- range $facts := .Files.Get "files/facts.json" | fromJsonArray -}}
{{- $fired := list -}}
{{- range $index, $rule := $rules -}}
{{- if include "gatehouse.fires" (dict "rule" $rule "facts" $facts) -}}{{- $fired = append $fired $index -}}{{- end -}}
{{- end -}}
{{- $all = append $all $fired -}}
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: fired
data:
  fired: {{ toJson $all | quote }}
`;

async function firedInChart(environments: readonly Environment[]): Promise<number[][]> {
  const chart = mkdtempSync(join(tmpdir(), 'gatehouse-rules-'));
  try {
    cpSync(CHART, chart, { recursive: true });
    writeFileSync(join(chart, 'templates/fired.yaml'), TEMPLATE);
    writeFileSync(join(chart, 'files/facts.json'), JSON.stringify(environments.map(factsOf)));
    const args = ['template', 'gate', chart, '--show-only', 'templates/fired.yaml'];
    const { stdout, stderr } = await runHelm(await helmBinary(4), args);
    expect(stderr).toBe('');
    return JSON.parse(String(at(manifestsIn(stdout)[0], 'data.fired'))) as number[][];
  } finally {
    rmSync(chart, { recursive: true });
  }
}

describe('the table of rules that server and chart share', () => {
  it('contains variables of the server only', () => {
    expect(NAMES.filter((name) => !VARIABLE_NAMES.includes(name))).toEqual([]);
  });

  it.each(VARIABLE_RULES)(
    'refuses the start when $variable $message',
    ({ variable, message, when }) => {
      let problems: ConfigurationError['problems'] = [];
      try {
        resolveSettings(witness(when));
      } catch (error) {
        problems = (error as ConfigurationError).problems;
      }
      expect(problems).toContainEqual({ variable, message });
    },
  );

  it.each(Object.entries(POLICY_CONFLICTS))('reports %s as an error', (code, { when }) => {
    const { findings } = resolveSettings(witness(when));
    expect(findings).toContainEqual(expect.objectContaining({ severity: 'error', code }));
  });

  it('applies in the chart where it applies on the server', async () => {
    const usable = {
      AUTH_KEY_CHALLENGE_ENABLED: 'false',
      SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: 'yes',
      SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'Optional',
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: '1',
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'github, "okta"',
    };
    const environments = [
      {},
      usable,
      { ...usable, SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'github' },
      { PORT: '0', METRICS_PORT: '0', ADMIN_PORT: '0', ADMIN_TOKENS_FILE: '/mnt/a' },
      ...CONDITIONS.map((condition) => witness(condition)),
    ];
    const expected = environments.map(firedOnServer);
    expect(expected.slice(0, 4)).toEqual([[], [], [expect.any(Number)], []]);
    expect(new Set(expected.flat()).size).toBe(CONDITIONS.length);
    expect(await firedInChart(environments)).toEqual(expected);
  });
});
