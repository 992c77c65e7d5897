import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { useCliUser } from '../fixtures/programs/cli-fixture.js';
import { helmBinary } from './binaries.js';
import { DATABASE, KEYLESS, OKTA, PUBLIC } from './feature-values.js';
import * as chart from './render.js';
import { checkContainer, mountFiles } from './server-pod.js';

const helm = await helmBinary(4);
const user = useCliUser();

const RELAY = {
  list: [{ id: 'relay', resource: 'https://relay.example.org' }],
  clientSecrets: { relay: { existingSecret: 'a' } },
};

/** Runs the init container of the rendered pod with the command of this build, as in the image. */
async function runCheck({ stdout }: chart.HelmResult): Promise<{ code: unknown; output: string }> {
  const manifests = chart.manifestsIn(stdout);
  const container = checkContainer(manifests);
  const files = mountFiles(mkdtempSync(join(user.home, 'files-')), manifests, container);
  const { code, ...output } = await user.run(container?.['args'] as readonly string[], files);
  return { code, output: `${output.stdout}${output.stderr}` };
}

const shared = ({ image, env, envFrom, volumeMounts, securityContext }: chart.JsonObject = {}) => ({
  ...{ image, env, envFrom, volumeMounts, securityContext },
});

it.each([...chart.VALUES_FILES])(
  'passes with %s, in the environment and with the files of the server',
  async (_name, path) => {
    const rendered = await chart.template(helm, path);
    const manifests = chart.manifestsIn(rendered.stdout);
    const pod = chart.at(chart.find(manifests, 'Deployment'), 'spec.template.spec');
    const server = chart.at(pod, 'containers.0') as chart.JsonObject;
    expect(shared(checkContainer(manifests))).toEqual(shared(server));
    const { code, output } = await runCheck(rendered);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toContain('The configuration is valid. The policy:\n');
  },
);

it.each<[string, chart.JsonObject, number, readonly string[]]>([
  [
    'keyless accounts with required_e2ee',
    { config: { SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: true } },
    1,
    ['SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY is required_e2ee'],
  ],
  [
    'certificates that no one verifies',
    {
      config: KEYLESS,
      mtls: {
        enabled: true,
        forwarded: { proxy: 'aws-alb-passthrough', trustedProxies: ['10.0.0.0/8'] },
      },
    },
    78,
    ['SERVICE_FEATURE_AUTH_MTLS__CA_PATH: is missing'],
  ],
  [
    'a database without a master secret',
    { secrets: { DATABASE_URL: DATABASE.DATABASE_URL } },
    78,
    ['SERVICE_MASTER_SECRET: is required with DATABASE_URL', 'openssl rand -base64 48'],
  ],
  [
    'providers in two places',
    {
      config: PUBLIC,
      providers: { list: [OKTA], clientSecrets: { okta: { existingSecret: 'a' } } },
      secrets: { AUTH_PROVIDERS_CONFIG_JSON: { existingSecret: 'a' } },
    },
    78,
    ['AUTH_PROVIDERS_CONFIG_PATH: and AUTH_PROVIDERS_CONFIG_JSON are both set'],
  ],
  [
    'backends in two places',
    { config: { AUTH_RESOURCE_SERVERS_CONFIG_JSON: '[]' }, resourceServers: RELAY },
    78,
    ['AUTH_RESOURCE_SERVERS_CONFIG_JSON are both set'],
  ],
  [
    'an administration API without callers',
    { administration: { enabled: true } },
    78,
    ['ADMIN_PORT: admits no caller'],
  ],
])('fails with a sentence about %s', async (_what, values, code, sentences) => {
  const { output, ...result } = await runCheck(await chart.templateWith(helm, values));
  expect({ output, ...result }).toMatchObject({ code });
  for (const sentence of sentences) {
    expect(output).toContain(sentence);
  }
});

it('runs before the migrations, and after the init containers of the values', async () => {
  const manifests = await chart.manifestsWith(helm, {
    secrets: DATABASE,
    migrations: { mode: 'initContainer' },
    extraInitContainers: [{ name: 'secrets', image: 'agent:1' }],
  });
  const pod = chart.at(chart.find(manifests, 'Deployment'), 'spec.template.spec');
  const names = (chart.at(pod, 'initContainers') as chart.JsonObject[]).map(({ name }) => name);
  expect(names).toEqual(['secrets', 'config-check', 'migrate']);
});

it('can be switched off, and the notes name the command that prints its output', async () => {
  const off = ['--set', 'configCheck.enabled=false'];
  const path = chart.VALUES_FILES.get('values') ?? '';
  const { stdout } = await chart.template(helm, path, ...off);
  expect(checkContainer(chart.manifestsIn(stdout))).toBeUndefined();
  expect(await chart.notes(helm, path, ...off)).toContain('-- gatehouse config check');
  expect(await chart.notes(helm, path)).toMatch(/kubectl -n default logs .* -c config-check/);
});
