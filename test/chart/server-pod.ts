import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { selfSigned, TestAuthority } from '../fixtures/certificates-fixture.js';
import { OKTA } from './feature-values.js';
import { at, find, type Json, type JsonObject, type Manifest } from './render.js';

const SAMPLES: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://gatehouse:secret@db.example.org:5432/gatehouse',
  REDIS_URL: 'redis://redis.example.org:6379',
  AUTH_GITHUB_APP_PRIVATE_KEY: generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey,
  AUTH_PROVIDERS_CONFIG_PATH: JSON.stringify([{ ...OKTA, clientSecret: 'sample' }]),
};
const SECRET = 'a-secret-for-rendering-only-0123456789-0123456789';

/**
 * Writes the files of a rendered container of the server below a directory, samples for Secrets and
 * ConfigMaps of others included.
 *
 * @returns its variables, with paths below the directory
 */
export function mountFiles(
  directory: string,
  manifests: readonly Manifest[],
  container: Json | undefined,
): Record<string, string> {
  const below = (text: string): string => text.replaceAll(/(^|")(?=\/[a-z]+\/)/g, `$1${directory}`);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(below(path)), { recursive: true });
    writeFileSync(below(path), below(text));
  };
  const map = (name: Json | undefined): Readonly<Record<string, string>> =>
    (at(
      manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name),
      'data',
    ) ?? {}) as Record<string, string>;
  for (const { name, mountPath } of listAt(container, 'volumeMounts')) {
    const volumes = manifests.flatMap((one) => listAt(one, 'spec.template.spec.volumes'));
    const volume = volumes.find((one) => one['name'] === name);
    for (const [key, text] of Object.entries(map(at(volume, 'configMap.name')))) {
      write(join(String(mountPath), key), text);
    }
    for (const { secret } of listAt(volume, 'projected.sources')) {
      for (const { path } of listAt(secret, 'items')) {
        write(join(String(mountPath), String(path)), SAMPLES[String(path)] ?? SECRET);
      }
    }
  }
  const variables = { ...map(at(container, 'envFrom.0.configMapRef.name')), ...env(container) };
  const paths = Object.entries(variables).filter(([, value]) => below(value) !== value);
  const { cert, key } = selfSigned(directory, 'gate', 'DNS:gate.example.org');
  const authority = TestAuthority.root(mkdtempSync(join(directory, 'authority-')), 'Root');
  const pem = {
    ...{ CERT_PATH: cert, KEY_PATH: key },
    CA_PATH: readFileSync(authority.certPath, 'utf8'),
    CRL_PATH: authority.revocationList(),
  };
  for (const [name, path] of paths) {
    if (/_(FILE|PATH)$/.test(name) && !existsSync(below(path))) {
      const [, text] = Object.entries(pem).find(([ending]) => name.endsWith(ending)) ?? [];
      write(path, text ?? SAMPLES[name.replace(/_FILE$/, '')] ?? SECRET);
    }
  }
  return { ...variables, ...Object.fromEntries(paths.map(([name, path]) => [name, below(path)])) };
}

function env(container: Json | undefined): Record<string, string> {
  const variables = listAt(container, 'env').map(({ name, value }) => {
    return [String(name), String(value ?? SAMPLES[String(name)] ?? SECRET)] as const;
  });
  return Object.fromEntries(variables);
}

/** Returns the init container that checks the configuration. */
export function checkContainer(manifests: readonly Manifest[]): JsonObject | undefined {
  const pod = at(find(manifests, 'Deployment'), 'spec.template.spec');
  return listAt(pod, 'initContainers').find(({ name }) => name === 'config-check');
}

function listAt(value: Json | undefined, path: string): readonly JsonObject[] {
  return (at(value, path) ?? []) as readonly JsonObject[];
}
