import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VariableName } from '../../src/server/config/settings.js';
import { at, find, type Json, type JsonObject, type Manifest } from './render.js';

const SAMPLES: Readonly<Partial<Record<VariableName, string>>> = {
  DATABASE_URL: 'postgres://gatehouse:secret@db.example.org:5432/gatehouse',
  REDIS_URL: 'redis://redis.example.org:6379',
  AUTH_PROVIDERS_CONFIG_JSON: '[]',
  AUTH_GITHUB_APP_PRIVATE_KEY: generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey,
};
const SECRET = 'a-secret-for-rendering-only-0123456789-0123456789';

/** Returns the variables of the server in a rendered Deployment, with samples for secrets. */
export function serverEnvironment(manifests: readonly Manifest[]): Record<string, string> {
  const container = at(find(manifests, 'Deployment'), 'spec.template.spec.containers.0');
  const config = manifests.find(
    ({ kind, metadata }) =>
      kind === 'ConfigMap' && metadata.name === at(container, 'envFrom.0.configMapRef.name'),
  );
  const variables = {
    ...withoutFiles((at(config, 'data') ?? {}) as Record<string, string>),
    ...containerVariables(container),
  };
  return withProviders(manifests, withCaBundle(manifests, variables));
}

/** Writes the bundle of the ConfigMap of the chart to a file of this machine. */
function withCaBundle(
  manifests: readonly Manifest[],
  { SERVICE_CA_BUNDLE: path, ...rest }: Record<string, string>,
): Record<string, string> {
  const map = manifests.find(({ metadata }) => metadata.name.endsWith('-ca'));
  if (path === undefined || map === undefined) {
    return rest;
  }
  const file = join(mkdtempSync(join(tmpdir(), 'gatehouse-chart-')), 'ca.crt');
  writeFileSync(file, String((at(map, 'data') as JsonObject)['ca.crt']));
  return { ...rest, SERVICE_CA_BUNDLE: file };
}

export function containerVariables(container: Json | undefined): Record<string, string> {
  const variables = (at(container, 'env') ?? []) as readonly JsonObject[];
  const texts = variables.map(({ name, value }) => [name, value ?? sampleFor(String(name))]);
  return withoutFiles(Object.fromEntries(texts) as Record<string, string>);
}

function withoutFiles(variables: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(variables).map(([name, text]) => {
    const secret = name.replace(/_FILE$/, '');
    return secret === name ? [name, text] : [secret, sampleFor(secret)];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

function sampleFor(name: string): string {
  return SAMPLES[name as VariableName] ?? SECRET;
}

/** Returns the file with each secret in place of its path. Other files are replaced. */
function withProviders(
  manifests: readonly Manifest[],
  { AUTH_PROVIDERS_CONFIG_PATH: path, ...rest }: Record<string, string>,
): Record<string, string> {
  if (path === undefined) {
    return rest;
  }
  const file = manifests.find(({ metadata }) => metadata.name.endsWith('-providers'));
  const text = at(file, 'data')
    ? String((at(file, 'data') as JsonObject)['providers.json'])
    : '[{"id":"okta","type":"oidc","issuer":"https://a.example","clientId":"b","clientSecretFile":"c"}]';
  const withSecrets = text.replaceAll(/"(\w+)File": ?"[^"]*"/g, `"$1": "${SECRET}"`);
  return { ...rest, AUTH_PROVIDERS_CONFIG_JSON: withSecrets };
}
