import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { resolveSettings } from '../src/config/resolve-settings.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment?: Readonly<Record<string, string>> }>
  >;
}

describe('the Dockerfile', () => {
  it('has no mistake that the linter knows', async () => {
    const linter = join(ROOT, 'node_modules/dockerfile-utils/bin/dockerfile-utils');
    const { stdout } = await run(process.execPath, [linter, 'lint', 'docker/Dockerfile'], {
      cwd: ROOT,
    });
    expect(stdout).not.toMatch(/Line/);
  });

  it('runs as an unprivileged user, with a command for every command', async () => {
    const text = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
    expect(text).toMatch(/^USER 10001:10001$/m);
    expect(text).toMatch(/^ENTRYPOINT \["node", "dist\/bin\/gatehouse\.js"\]$/m);
    expect(text).toMatch(/^CMD \["serve"\]$/m);
    expect(text).toMatch(/^STOPSIGNAL SIGTERM$/m);
  });

  it('starts from a base that is pinned by digest', async () => {
    const text = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
    expect(text).toMatch(/^ARG NODE_DIGEST=sha256:[0-9a-f]{64}$/m);
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases)).toEqual(new Set(['node:${NODE_TAG}@${NODE_DIGEST}']));
  });
});

it('compose.yaml gives the server a configuration that it starts with', async () => {
  const text = await readFile(join(ROOT, 'docker/compose.yaml'), 'utf8');
  const { services } = parse(text, { merge: true }) as Compose;
  const environment = { ...services['gatehouse']?.environment };
  const { settings, findings } = resolveSettings({
    ...environment,
    SERVICE_MASTER_SECRET: 'a-master-secret-for-this-test-only-0123456789',
  });
  expect(settings.mtls.enabled).toBe(true);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
});

it('make-dev-certificates.sh issues a certificate that the client authority signed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-certificates-'));
  try {
    await run(join(ROOT, 'docker/make-dev-certificates.sh'), [directory]);
    const certificate = async (name: string) =>
      new X509Certificate(await readFile(join(directory, name)));
    const person = await certificate('client.crt');
    const authority = await certificate('client-ca.pem');
    expect(person.verify(authority.publicKey)).toBe(true);
    expect(person.subjectAltName).toContain('email:jiri@acme.example');
    expect((await certificate('tls.crt')).verify(authority.publicKey)).toBe(false);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
