import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NotesFixture, openAsNewPerson } from '../../fixtures/mcp/notes-fixture.js';
import { inChromium, useChromium } from '../../fixtures/programs/browser-fixture.js';
import { hasRegistry } from '../../fixtures/programs/packages-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { INSPECTOR } from '../../fixtures/programs-fixture.js';
import { outputOf } from '../../helpers/child-output.js';
import { waitFor } from '../../helpers/wait.js';

const TEST = fileURLToPath(new URL('../../', import.meta.url));
const COMMAND = join(TEST, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
/** The tests use functions of Node that its oldest supported versions lack. */
const NODE = '26.10.0';

const fixture = await NotesFixture.start();
afterAll(() => fixture.close());

const visit = useChromium();

(hasRegistry() ? inChromium : describe.skip)(
  'the conformance tests of MCP for authorization servers',
  () => {
    let node: string;

    beforeAll(async () => {
      const release = [join(TEST, 'helpers/node-release.mjs'), NODE];
      node = join((await promisify(execFile)(process.execPath, release)).stdout, 'node');
    });

    it('pass with the metadata and the grant of a code', async () => {
      const port = await freePort();
      const args = [
        ...[COMMAND, 'authorization', '--verbose'],
        ...['--url', fixture.server.url],
        ...['--client-id', INSPECTOR.id],
        ...['--resource', fixture.resource],
        ...['--port', String(port)],
      ];
      const tests = spawn(node, args, { stdio: 'pipe' });
      const output = outputOf(tests);
      const ended = once(tests, 'exit');
      const address = (): string => /^http\S+\/v1\/oauth\/authorize\S+/m.exec(output())?.[0] ?? '';
      await waitFor(
        () => `the address of the request, after ${output()}`,
        () => address() !== '',
      );
      const visitor = await openAsNewPerson(visit, address());
      await visitor.press('Allow');
      const [status] = (await ended) as [number];
      expect([status, output()]).toEqual([0, expect.stringContaining('Total: 3 passed, 0 failed')]);
    });
  },
);
