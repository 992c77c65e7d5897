import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { outputOf } from '../../helpers/child-output.js';
import { waitFor } from '../../helpers/wait.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Terminal {
  readonly child: ChildProcess;
  readonly text: () => string;
  readonly ended: Promise<unknown>;
}

const server = await startServer();
const home = mkdtempSync(join(tmpdir(), 'gatehouse-walk-'));
const program = join(ROOT, 'dist/bin/gatehouse.js');
writeFileSync(
  join(home, 'gatehouse'),
  `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`,
  {
    mode: 0o755,
  },
);

afterAll(() => server.stop());

const commandsOf = (page: string): string[] => {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  const section = text.split('\n## ').find((part) => part.startsWith('Walk-through')) ?? '';
  return section.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []));
};

const env: Record<string, string> = {
  PATH: `${home}${delimiter}${process.env['PATH']}`,
  HOME: home,
};

const type = (command: string): Terminal => {
  const child = spawn('/bin/sh', ['-c', `exec ${command}`.replace(/^exec head/, 'head')], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, text: outputOf(child), ended: once(child, 'close') };
};

describe('the walk-through of docs/notifications.md', () => {
  it('works as written: three events verify, and doctor reports the receiver that was stopped', async () => {
    const port = String(await freePort());
    const commands = commandsOf('notifications.md').map((command) =>
      command.replace('http://127.0.0.1:3000', server.url).replaceAll('8787', port),
    );
    let receiver: Terminal | null = null;
    const sent: string[] = [];
    for (const command of commands) {
      const [, name, value = ''] = /^export (\w+)=(\S+)$/.exec(command) ?? [];
      if (name !== undefined) {
        env[name] = value;
      } else if (command.startsWith('gatehouse webhook listen')) {
        receiver = type(command);
        await waitFor('the terminal', () => receiver?.text().includes('Listening') === true);
      } else if (command === 'gatehouse notify doctor') {
        await waitFor('the terminal', () => receiver?.text().match(/ verified /g)?.length === 3);
        receiver?.child.kill('SIGINT');
        await receiver?.ended;
        const doctor = type(command);
        expect(await doctor.ended).toEqual([1, null]);
        expect(doctor.text()).toContain('BROKEN  webhook here: Nothing listens at the url.');
        sent.push('doctor');
      } else {
        const terminal = type(command);
        expect([command, await terminal.ended, terminal.text()]).toMatchObject([
          command,
          [0, null],
          expect.any(String),
        ]);
        sent.push(...(command.match(/^gatehouse notify ([\w-]+)/)?.slice(1) ?? []));
      }
    }
    expect(sent).toEqual(['ready', 'permission-request', 'user-action-request', 'doctor']);
    expect(receiver?.text()).not.toContain('NOT VERIFIED');
  });
});
