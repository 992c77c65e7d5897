import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NotesFixture, openAsNewPerson } from '../../fixtures/mcp/notes-fixture.js';
import { inChromium, useChromium } from '../../fixtures/programs/browser-fixture.js';
import { waitFor } from '../../helpers/wait.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LAUNCHER =
  'test/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
const PAGE = readFileSync(join(ROOT, 'docs/connect-mcp.md'), 'utf8');
const found = (pattern: RegExp): string => pattern.exec(PAGE)?.[1] ?? '';
const CLIENTS = found(/in \[the programs file\][^]*?```json\n(.*?)```/s);
const ARGUMENTS = found(/`npx @modelcontextprotocol\/inspector (.*?)`/).split(' ');

const fixture = await NotesFixture.start({ AUTH_PROGRAM_CLIENTS_CONFIG_JSON: CLIENTS });
const home = mkdtempSync(join(tmpdir(), 'gatehouse-inspector-'));
afterAll(async () => {
  await fixture.close();
  rmSync(home, { recursive: true });
});

const visit = useChromium();
const [major = 0] = process.versions.node.split('.').map(Number);
/** It needs 22.19. */
const whereItRuns = major >= 24 ? inChromium : describe.skip;

whereItRuns("Inspector's command", () => {
  it('lists the tools after a person signs in, as the page says', async () => {
    const given = ARGUMENTS.map((text) =>
      text.replace('https://notes.example.com/mcp', fixture.resource),
    );
    // Without a terminal it asks a person only where it may open a browser.
    const child = spawn(process.execPath, [join(ROOT, LAUNCHER), ...given], {
      env: { HOME: home, MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'memory' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    const address = (): string =>
      /http:\/\/127\.0\.0\.1:\d+\/v1\/oauth\/authorize\S+/.exec(output)?.[0] ?? '';
    await waitFor(
      () => `the address of the request, after ${output}`,
      () => address() !== '',
    );
    await (await openAsNewPerson(visit, address())).press('Allow');
    await waitFor(
      () => `the list, after ${output}`,
      () => output.includes('"read_notes"'),
    );
    await waitFor('its end', () => child.exitCode === 0);
  });
});
