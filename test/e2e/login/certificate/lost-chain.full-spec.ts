import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestAuthority, type IssuedCertificate } from '../../../fixtures/certificates-fixture.js';
import { hasRegistry } from '../../../fixtures/programs/packages-fixture.js';
import { createStore } from '../../../fixtures/programs/store-fixture.js';
import {
  alice,
  chained,
  directory,
  root,
  startDirect,
} from '../../../fixtures/tls-listener-fixture.js';
import { mtlsEnv } from '../../../fixtures/certificate-login-fixture.js';

const ROOT = join(import.meta.dirname, '../../../..');
/** It drops the certificates that a client sends with its own (nodejs/node#65579). */
const VERSION = '24.21.0';
const AUTHORITY_USE = 'keyUsage=critical,keyCertSign,cRLSign';
const run = promisify(execFile);

(hasRegistry() ? describe : describe.skip)('mode direct on a Node that drops chains', () => {
  let node: string;

  beforeAll(async () => {
    const release = join(ROOT, 'test/helpers/node-release.mjs');
    node = join((await run(process.execPath, [release, VERSION])).stdout, 'node');
  });

  /** @returns the exit codes and the outputs of a server that does not start, and of the check before */
  async function startAndCheck(caPath: string): Promise<object[]> {
    const store = await createStore();
    try {
      const host = root.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
      const own = {
        MODE: 'direct',
        TLS_PORT: '0',
        TLS_CERT_PATH: host.certPath,
        TLS_KEY_PATH: host.keyPath,
        CA_PATH: caPath,
      };
      const env = { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0' };
      const options = { cwd: ROOT, env: { ...env, ...store.env, ...mtlsEnv(own) } };
      const results = [];
      for (const command of [
        ['dist/bin/server.js'],
        ['dist/bin/gatehouse.js', 'config', 'check'],
      ]) {
        const result = await run(node, command, options).catch(
          (error: { code: number; stdout: string; stderr: string }) => error,
        );
        const code = 'code' in result ? result.code : 0;
        results.push({ code, printed: result.stdout + result.stderr });
      }
      return results;
    } finally {
      await store.drop();
    }
  }

  it.each([
    ['a root', () => root.certPath],
    [
      'an authority with a path length of 1',
      () =>
        TestAuthority.odd(directory, {
          subject: '/O=Acme/CN=Acme Regional CA',
          usage: null,
          extensions: ['basicConstraints=critical,CA:TRUE,pathlen:1', AUTHORITY_USE],
        }).certPath,
    ],
  ])('ends with 78 and the reason where %s is trusted', async (_title, caPath) => {
    const refused = {
      code: 78,
      printed: expect.stringMatching(
        /SERVICE_FEATURE_AUTH_MTLS__MODE: Node v24\.21\.0 drops the intermediate certificates/,
      ) as string,
    };
    expect(await startAndCheck(caPath())).toEqual([refused, refused]);
  });

  it('ends with 78 and the reason where only an intermediate authority is trusted', async () => {
    const issuing = root.intermediate('Acme Issuing CA', 0);
    const refused = {
      code: 78,
      printed: expect.stringMatching(
        /SERVICE_FEATURE_AUTH_MTLS__CA_PATH: Mode direct needs the root/,
      ) as string,
    };
    expect(await startAndCheck(issuing.certPath)).toEqual([refused, refused]);
  });

  it('logs in clients of an authority with a path length of 0, by their own certificate', async () => {
    const only = TestAuthority.odd(directory, {
      subject: '/O=Acme/CN=Acme Only CA',
      usage: null,
      extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0', AUTHORITY_USE],
    });
    const crlPath = join(directory, 'only.crl.pem');
    writeFileSync(crlPath, only.revocationList());
    const direct = await startDirect({ CA_PATH: only.certPath, CRL_PATH: crlPath }, { node });
    const status = async ({ cert, key }: Pick<IssuedCertificate, 'cert' | 'key'>) =>
      direct.post({ cert, key, agent: false }).then(
        (answer) => answer.status,
        () => 'refused',
      );
    try {
      expect(await status(only.issue({ names: ['email:alice@corp.example'] }))).toBe(200);
      expect(await status(chained(alice))).toBe('refused');
      const below = TestAuthority.under(only, {
        usage: null,
        extensions: ['basicConstraints=critical,CA:TRUE', AUTHORITY_USE],
      });
      const { cert, key } = below.issue({ names: ['email:alice@corp.example'] });
      expect(await status({ cert: cert + below.cert, key })).toBe('refused');
    } finally {
      await direct.server.stop();
    }
  });
});
