import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { helmBinary } from './binaries.js';
import { at, find, type JsonObject, manifestsWith } from './render.js';
import { type Server, startServer } from '../fixtures/programs/server-fixture.js';

const CLI = fileURLToPath(
  new URL(
    `../../${process.env['GATEHOUSE_TEST_DIST'] ?? 'dist'}/bin/gatehouse.js`,
    import.meta.url,
  ),
);

const helm = await helmBinary(4);

interface Outcome {
  readonly code: number;
  readonly output: string;
}

describe('the pod of helm test', () => {
  /** Runs the script of the pod with `gatehouse` as the command of this build, as in the image. */
  async function runPod(config: JsonObject, server: Server): Promise<Outcome> {
    const pod = find(await manifestsWith(helm, { config }), 'Pod');
    const script = at(pod, 'spec.containers.0.command.2');
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-test-pod-'));
    const command = `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`;
    await writeFile(join(directory, 'gatehouse'), command, { mode: 0o755 });
    return runScript(String(script).replaceAll('/tmp/', `${directory}/`), {
      PATH: `${directory}:${process.env['PATH'] ?? ''}`,
      XDG_CONFIG_HOME: join(directory, 'config'),
      GATEHOUSE_SERVER: server.url,
    });
  }

  describe('on an open server', () => {
    let server: Server;

    beforeAll(async () => {
      server = await startServer();
    });

    afterAll(() => server.stop());

    it('signs up, reads the account and connects to /v1/updates', async () => {
      const { code, output } = await runPod({}, server);
      expect({ code, output }).toMatchObject({ code: 0 });
      expect(output).toMatch(
        /Created the account .*\nAccount .*Connected to .*Deleted the account /s,
      );
    });

    it('fails where the chart requires a provider, and the server does not', async () => {
      const { code } = await runPod({ AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta' }, server);
      expect(code).toBe(1);
    });

    it('fails where the chart expects anonymous sign-up to be refused, and it is not', async () => {
      const { code, output } = await runPod({ AUTH_ANONYMOUS_SIGNUP_ENABLED: false }, server);
      expect({ code, output }).toMatchObject({ code: 1 });
      expect(output).toContain('should have been refused');
    });
  });

  it.each([
    [{ AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false' }, 'keeps strangers out'],
    [{ AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta' }, 'requires an identity provider of every account'],
  ])('verifies %j', async (config, words) => {
    const server = await startServer({ env: config });
    try {
      const { code, output } = await runPod(config, server);
      expect({ code, output }).toMatchObject({ code: 0 });
      expect(output).toContain(words);
    } finally {
      await server.stop();
    }
  });
});

function runScript(script: string, env: Record<string, string>): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile('/bin/sh', ['-c', script], { env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, output: stdout + stderr });
    });
  });
}
