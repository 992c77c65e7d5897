import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startServer } from '../../fixtures/programs/server-fixture.js';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('../../../docs/samples/python/', import.meta.url));

/** The packages of the system belong to its own Python, which another one may precede. */
function findPython(): string {
  const found = ['python3', '/usr/bin/python3'].find(
    (path) =>
      spawnSync(path, ['-c', 'import cryptography, nacl, socketio, websocket']).status === 0,
  );
  if (found === undefined) {
    throw new Error(
      'These tests need Python with four packages. On Debian: apt-get install python3-cryptography python3-nacl python3-socketio python3-websocket',
    );
  }
  return found;
}

const python = findPython();
const env = { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' };

describe('docs/samples/python', () => {
  it.each([
    ['example.py', /^unknown key: 404 not-found$/m],
    ['ask.py', /^computer: deny$/m],
  ])('prints the output of %s that its README shows', async (program, line) => {
    const readme = readFileSync(`${FOLDER}README.md`, 'utf8');
    const server = await startServer();
    try {
      const { stdout } = await run(python, [program, server.url], { cwd: FOLDER, env });
      expect(stdout).toMatch(line);
      expect(readme).toContain(`\`\`\`\n${stdout}\`\`\``);
    } finally {
      await server.stop();
    }
  });

  it('passes its own tests', async () => {
    const { stderr } = await run(python, ['-m', 'unittest', 'discover'], { cwd: FOLDER, env });
    expect(stderr).toMatch(/Ran 11 tests[^]*OK/);
  });
});
