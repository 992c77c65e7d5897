import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { CLIENT } from '../../fakes/openid-provider.js';
import { CLI, createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { Oidc } from '../../fixtures/oidc-provider-fixture.js';
import { callbackOf } from '../../fixtures/provider-login-fixture.js';

const run = promisify(execFile);
const PAGE = readFileSync(
  fileURLToPath(new URL('../../../docs/first-week.md', import.meta.url)),
  'utf8',
);
const POSTGRES = '/usr/lib/postgresql';

/** Stands in for the cluster: keeps Secrets as files, and runs what is executed in a pod. */
const KUBECTL = `
const { copyFileSync, readFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const args = process.argv.slice(2);
const check = args.includes('config-check') ? ['gatehouse', 'config', 'check'] : [];
const [program, ...rest] = args.includes('--') ? args.slice(args.indexOf('--') + 1) : check;
for (const arg of args) {
  const [, key, path] = /^--from-file=([^=]+)=(.+)$/.exec(arg) ?? [];
  if (key) copyFileSync(path, 'secrets/' + key);
}
if (program) {
  const env = { PATH: process.env.PATH, ...JSON.parse(readFileSync('server.json', 'utf8')) };
  process.exitCode = spawnSync(program, rest, { stdio: 'inherit', env }).status;
}
`;

interface Values {
  readonly config: Readonly<Record<string, string | number | boolean>>;
  readonly providers?: { readonly list: readonly object[] };
}

const ports = [await freePort(), await freePort(), await freePort()];
const addressOf = (at: 0 | 1 | 2): string => `http://127.0.0.1:${ports[at]}`;

let server: Server;
const work = await mkdtemp(join(tmpdir(), 'gatehouse-week-'));
await mkdir(join(work, 'secrets'));
await mkdir(join(work, 'bin'));
await writeFile(join(work, 'kubectl.cjs'), KUBECTL);
const programs = {
  helm: 'true',
  kubectl: `"${process.execPath}" "${work}/kubectl.cjs" "$@"`,
  gatehouse: `"${process.execPath}" "${CLI}" "$@"`,
};
for (const [name, script] of Object.entries(programs)) {
  await writeFile(join(work, 'bin', name), `#!/bin/sh\nexec ${script}\n`, { mode: 0o755 });
}
const store = await createStore();
const oidc = await Oidc.start([`${addressOf(0)}/v1/oauth/okta/callback`]);
const colleague = await createCliUser();

afterAll(async () => {
  await server.stop();
  await oidc.stop();
  await store.drop();
});

describe('docs/first-week.md', () => {
  /** Returns the blocks of a section, with the addresses of this machine. */
  function blocksOf(heading: string, language: 'sh' | 'yaml' = 'sh'): string[] {
    const section = PAGE.split(/^## /m).find((one) => one.startsWith(heading)) ?? '';
    const blocks = [...section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))];
    expect(blocks).not.toEqual([]);
    return blocks.map(([, block = '']) =>
      block
        .replaceAll('https://gate.example.org', addressOf(0))
        .replaceAll('http://127.0.0.1:3100', addressOf(1))
        .replaceAll('http://127.0.0.1:9090', addressOf(2))
        .replaceAll('https://acme.okta.com', oidc.issuer),
    );
  }

  /** Runs blocks as one person types them: variables stay for the blocks after. */
  async function follow(...blocks: readonly string[]): Promise<string> {
    const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
    const path = [
      join(work, 'bin'),
      ...versions.map((one) => join(POSTGRES, one, 'bin')),
      process.env['PATH'],
    ];
    const script = `set -a; if [ -f variables ]; then . ./variables; fi\n${blocks.join('\n')}\nexport -p > variables`;
    const { stdout } = await run('/bin/sh', ['-euc', script], {
      cwd: work,
      env: {
        PATH: path.join(':'),
        HOME: work,
        DATABASE_URL: store.databaseUrl ?? '',
        REDIS_URL: 'redis://127.0.0.1:1',
        OKTA_CLIENT_SECRET: CLIENT.secret,
      },
    });
    return stdout;
  }

  /** Starts the server as the chart does with the values of the section. */
  async function start(heading: string): Promise<void> {
    const { config, providers } = parse(blocksOf(heading, 'yaml')[0] ?? '') as Values;
    const entries = providers?.list.map((one) => ({ ...one, clientSecret: CLIENT.secret }));
    const env = {
      ...Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value)])),
      ...(entries && { AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify(entries) }),
      DATABASE_URL: store.databaseUrl ?? '',
      SERVICE_MASTER_SECRET_FILE: join(work, 'secrets/current'),
      SERVICE_MASTER_SECRET_PREVIOUS_FILE: join(work, 'secrets/previous'),
      PORT: String(ports[0]),
      ADMIN_PORT: String(ports[1]),
      ADMIN_TOKENS_FILE: join(work, 'secrets/admin-tokens.json'),
      METRICS_PORT: String(ports[2]),
    };
    await writeFile(join(work, 'server.json'), JSON.stringify(env));
    server = await startServer({ env, store: { ...store, env: {} } });
  }

  /** Signs up in a browser, with the command of the page on another computer. */
  async function signUp(login: string, command: string): Promise<void> {
    const args = command.trim().split(' ').slice(1);
    const cli = colleague.start(args, { GATEHOUSE_SERVER: server.url });
    await cli.until(() => cli.stderr().includes('Waiting for the browser'));
    const [, address = ''] = /^ {2}(http\S+)$/m.exec(cli.stderr()) ?? [];
    const page = await (await fetch(await callbackOf(server, address, login))).text();
    const [, link = ''] = /<a href="([^"]+)"/.exec(page) ?? [];
    await fetch(link.replaceAll('&amp;', '&'));
    expect(await cli.exited).toMatchObject({ code: 0 });
  }

  it('leads from the chart to the first leaver', async () => {
    const [secrets = '', admins = '', install = ''] = blocksOf('Day 1: install');
    await follow(secrets, admins);
    await start('Day 1: install');
    expect(await follow(install)).toContain('A new device key needs an invitation.');
    const [forward = '', first = ''] = blocksOf('Day 1: an administrator');
    expect(await follow(forward, first)).toMatch(/Created the account[^]*enabled/);

    const [plan = '', ...upgrade] = blocksOf('Day 2');
    const counts = (await follow(plan)).split('\n').slice(0, 3).join('\n');
    expect(counts).toContain('Would lose access: 1');
    expect(PAGE).toContain(`\`\`\`\n${counts}\n\`\`\``);
    await server.stop();
    await start('Day 2');
    const policy = await follow(...upgrade);
    expect(policy).toContain('an account must be connected to okta and be eligible there');
    await expect(follow('gatehouse tokens list')).rejects.toMatchObject({
      stderr: expect.stringContaining('Connect okta to continue.'),
    });

    const [signup = '', invite = ''] = blocksOf('Day 3');
    await signUp('anna', signup);
    expect(await follow(invite)).toContain('0 of 5');
    const watched = await follow(...blocksOf('Day 4'));
    expect(watched).toMatch(/^gatehouse_auth_login_total[^]*^gatehouse_live_connections/m);
    expect(watched).toContain('invitation-created');

    const [backup = '', rotate = '', reseal = ''] = blocksOf('Day 5');
    await follow(backup, rotate);
    expect(await follow(reseal)).toMatch(/^credentials of identities: 1 of 1$/m);
    expect(readFileSync(join(work, 'contents.txt'), 'utf8')).toContain('TABLE DATA public account');

    const [leave = '', look = '', disable = ''] = blocksOf('The first leaver');
    const watch = colleague.start(['watch', '--json']);
    await watch.until(() => watch.stderr().includes('Connected'));
    await oidc.setGroups('anna', []);
    await follow(leave);
    expect((await watch.exited).stderr).toContain('"code":"not-eligible"');
    const explained = await follow(look);
    expect(explained).toContain('okta is required, and does not confirm its identity.');
    expect(explained).toContain('left the company, ticket 4711');
    expect(await follow(disable)).toContain('Disabled');
  });
});
