import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { makeDeviceKey, type Json } from '../../helpers/client.js';

const run = promisify(execFile);
const ISSUER = 'https://gate.example.com';
const PAGE = readFileSync(
  fileURLToPath(new URL('../../../docs/protect-a-backend.md', import.meta.url)),
  'utf8',
);

function blockOf(heading: string, language: 'sh' | 'json'): string {
  const section = PAGE.split(/^##+ /m).find((one) => one.startsWith(heading)) ?? '';
  const [, block = ''] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(section) ?? [];
  expect([heading, block]).not.toEqual([heading, '']);
  return block;
}

const work = mkdtempSync(join(tmpdir(), 'gatehouse-backend-page-'));

const [, command = ''] = /`(openssl [^`]+)`/.exec(PAGE) ?? [];
await run('/bin/sh', ['-euc', command], { cwd: work });
const [entry] = JSON.parse(blockOf('Configure the backend', 'json')) as [
  Json & { readonly client: { readonly secretFile: string } },
];
const client = { secretFile: join(work, entry.client.secretFile) };
const file = join(work, 'resource-servers.json');
writeFileSync(file, JSON.stringify([{ ...entry, client }]));
const server = await startServer({
  env: { AUTH_RESOURCE_SERVERS_CONFIG_PATH: file, SERVICE_PUBLIC_URL: ISSUER },
});
afterAll(() => server.stop());

describe('docs/protect-a-backend.md', () => {
  async function follow(block: string, env: Readonly<Record<string, string>>): Promise<Json> {
    const script = block.replaceAll(ISSUER, server.url);
    const { stdout } = await run('/bin/sh', ['-euc', script], {
      cwd: work,
      env: { PATH: process.env['PATH'], ...env },
    });
    return JSON.parse(stdout) as Json;
  }

  it('gets a token for the backend, and shows that it is valid', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const issued = await follow(blockOf('Get a token', 'sh'), { SESSION_TOKEN: session });
    expect(issued).toMatchObject({ token_type: 'Bearer', expires_in: 300 });
    const token = String(issued['access_token']);
    const secret = readFileSync(join(work, 'relay-client-secret.txt'), 'utf8').trim();
    const checked = await follow(blockOf('With the standards', 'sh'), {
      ACCESS_TOKEN: token,
      CLIENT_SECRET: secret,
    });
    expect(checked).toMatchObject({ active: true, sub: decodeJwt(token).sub });
  });
});
