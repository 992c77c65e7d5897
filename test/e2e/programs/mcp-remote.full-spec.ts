import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { NotesFixture, openAsNewPerson } from '../../fixtures/mcp/notes-fixture.js';
import { inChromium, useChromium } from '../../fixtures/programs/browser-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { INSPECTOR } from '../../fixtures/programs-fixture.js';
import { waitFor } from '../../helpers/wait.js';

const COMMAND = fileURLToPath(
  new URL('../../node_modules/mcp-remote/dist/proxy.js', import.meta.url),
);
const fixture = await NotesFixture.start();
const home = mkdtempSync(join(tmpdir(), 'gatehouse-mcp-remote-'));
afterAll(() => fixture.close());

const visit = useChromium();

/** An editor that knows local servers alone, and mcp-remote as its local server. */
async function editor() {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      COMMAND,
      fixture.resource,
      String(await freePort()),
      ...['--host', '127.0.0.1'],
      ...['--callback-path', '/callback'],
      ...['--auth-timeout', '600'],
      ...['--static-oauth-client-info', JSON.stringify({ client_id: INSPECTOR.id })],
    ],
    env: { HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: '/nonexistent' },
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const client = new Client({ name: 'Editor', version: '1.0.0' });
  return { client, connected: client.connect(transport), log: () => log };
}

inChromium('mcp-remote', () => {
  it('signs a person in for an editor, and keeps their access for its next start', async () => {
    const first = await editor();
    first.connected.catch(() => undefined);
    const address = (): string =>
      /http:\/\/127\.0\.0\.1:\d+\/v1\/oauth\/authorize\S+/.exec(first.log())?.[0] ?? '';
    await waitFor(
      () => `the address of the request, after ${first.log()}`,
      () => address() !== '',
    );
    const visitor = await openAsNewPerson(visit, address());
    await visitor.press('Allow');
    await first.connected;
    expect(await first.client.callTool({ name: 'read_notes' })).toEqual({ content: [] });
    await first.client.close();

    const next = await editor();
    await next.connected;
    expect(await next.client.callTool({ name: 'read_notes' })).toEqual({ content: [] });
    expect(next.log()).not.toContain('/v1/oauth/authorize');
    await next.client.close();
  });
});
