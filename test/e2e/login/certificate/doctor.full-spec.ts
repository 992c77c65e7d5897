import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  certificateDirectory,
  NO_KEY_IDS,
  plainRoot,
  TestAuthority,
} from '../../../fixtures/certificates-fixture.js';
import { createCliUser } from '../../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { createStore } from '../../../fixtures/programs/store-fixture.js';
import { mtlsEnv } from '../../../fixtures/certificate-login-fixture.js';

interface Report {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly spelling: string;
    readonly headers: readonly string[];
    readonly verdict: string;
    readonly code: string | null;
  }[];
}

interface CertificateReport {
  readonly ok: boolean;
  readonly certificates: {
    readonly flaw: string | null;
    readonly findings: readonly { readonly certificate: string; readonly code: string }[];
  };
}

/** A server that takes the doctor itself for the proxy: one that takes nothing away. */
const believing = (env: Readonly<Record<string, string>>): Record<string, string> =>
  mtlsEnv({ TRUSTED_PROXIES: '127.0.0.1', ...env });

const [user, store] = await Promise.all([createCliUser(), createStore()]);
afterAll(() => store.drop());

async function examine(env: Readonly<Record<string, string>>) {
  const server: Server = await startServer({ store, env });
  try {
    const args = ['doctor', 'mtls', '--public-url', server.url, '--json'];
    const { code, stdout, stderr } = await user.run(args);
    const report = stdout === '' ? null : (JSON.parse(stdout) as Report);
    return { code, stderr, report, logs: server.logs() };
  } finally {
    await server.stop();
  }
}

describe('gatehouse doctor mtls', () => {
  it.each([
    ['plain', 'x-service-client-cert-email', {}],
    ['envoy', 'x-forwarded-client-cert', {}],
    ['aws-alb-verify', 'x-amzn-mtls-clientcert-leaf', {}],
    [
      'custom',
      'x-client-cert',
      { CUSTOM_CERTIFICATE_HEADER: 'x-client-cert', CUSTOM_DECODER: 'pem-spaces' },
    ],
  ])('fails where a client can send the headers of %s', async (preset, header, more) => {
    const { code, report, logs } = await examine(believing({ FORWARDED_PRESET: preset, ...more }));
    expect(code).toBe(1);
    const failed = report?.findings.filter(({ verdict }) => verdict === 'fail') ?? [];
    expect(failed.map(({ spelling }) => spelling)).toEqual([
      'lower case',
      'upper case',
      'title case',
      'mixed case',
    ]);
    expect(failed.every(({ headers }) => headers.join(' ').toLowerCase().includes(header))).toBe(
      true,
    );
    expect(failed.every((finding) => finding.code === 'not-eligible')).toBe(true);
    expect(logs).not.toContain('signed-up');
  });

  it('passes where no proxy is trusted', async () => {
    const { code, report, stderr } = await examine(mtlsEnv());
    expect({ code, stderr, isOk: report?.ok }).toEqual({ code: 0, stderr: '', isOk: true });
    expect(new Set(report?.findings.map(({ spelling }) => spelling)).size).toBe(13);
  });

  it('fails for a server that would refuse any certificate', async () => {
    const { code, stderr } = await examine({});
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'inconclusive' } });
  });

  it('reports an unreachable address, and an invalid one', async () => {
    const unreachable = ['doctor', 'mtls', '--public-url', 'http://127.0.0.1:9'];
    expect((await user.run(unreachable)).code).toBe(4);
    const none = ['doctor', 'mtls', '--public-url', 'gate.example.org'];
    expect((await user.run(none)).code).toBe(2);
    expect((await user.run(['doctor', 'mtls'])).code).toBe(2);
  });

  describe('with files of certificates', () => {
    const directory = certificateDirectory();
    const names = ['email:alice@corp.example'];
    const root = TestAuthority.root(directory, 'Root');
    const fileOf = (...certificates: readonly { readonly cert: string }[]): string => {
      const path = join(directory, `${certificates.length}-chain.pem`);
      writeFileSync(path, certificates.map(({ cert }) => cert).join(''));
      return path;
    };
    const judge = async (ca: string, ...more: string[]) => {
      const args = ['doctor', 'mtls', '--ca', ca, ...more];
      const { code, stdout } = await user.run([...args, '--json']);
      return { code, ...(JSON.parse(stdout) as CertificateReport), text: await user.run(args) };
    };

    it('names what is untidy, and exits with 0', async () => {
      const plain = plainRoot(directory);
      const leaf = plain.issue({ names, keyIds: NO_KEY_IDS, usage: null, subject: '/CN=Alice' });
      const { code, ok, certificates, text } = await judge(
        plain.certPath,
        '--chain',
        leaf.certPath,
      );
      expect({ code, ok, flaw: certificates.flaw }).toEqual({ code: 0, ok: true, flaw: null });
      expect(certificates.findings).toMatchObject([
        { certificate: 'Alice', code: 'no-authority-key-identifier' },
        { certificate: 'Plain Root', code: 'no-key-usage' },
      ]);
      expect(text.code).toBe(0);
      expect(text.stdout).toMatch(/^pass +the chain is valid$/m);
      expect(text.stdout).toMatch(/^warning Plain Root .*\[no-key-usage\]$/m);
    });

    it('finds nothing in tidy certificates', async () => {
      const issuing = root.intermediate('Issuing');
      const chain = fileOf(issuing.issue({ names }), issuing);
      const { code, certificates } = await judge(root.certPath, '--chain', chain);
      expect({ code, certificates }).toEqual({
        code: 0,
        certificates: { flaw: null, findings: [] },
      });
    });

    it('exits with 1 and the reason when the chain is refused', async () => {
      const leaf = root.issue({ names, usage: 'serverAuth' });
      const { code, ok, certificates, text } = await judge(root.certPath, '--chain', leaf.certPath);
      expect({ code, ok, flaw: certificates.flaw }).toEqual({
        code: 1,
        ok: false,
        flaw: 'wrong-usage',
      });
      expect(text.stdout).toMatch(/^FAIL +the chain: wrong-usage$/m);
    });

    it('refuses files without certificates, and a chain without authorities', async () => {
      const empty = join(directory, 'empty.pem');
      writeFileSync(empty, 'no certificate');
      for (const args of [
        ['--ca', empty],
        ['--ca', '/nowhere'],
        ['--ca', root.certPath, '--chain', empty],
        ['--chain', root.certPath],
      ]) {
        expect((await user.run(['doctor', 'mtls', ...args])).code).toBe(2);
      }
    });
  });
});
