import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { allow, NotesFixture, openAsNewPerson } from '../../fixtures/mcp/notes-fixture.js';
import { CallbackListener, ProgramStore } from '../../fixtures/mcp/program-fixture.js';
import { inChromium, useChromium, type Visitor } from '../../fixtures/programs/browser-fixture.js';
import { waitFor } from '../../helpers/wait.js';
import { sees } from '../web/account-page-acts.js';
import { KEEPS_PICTURES, RESULTS } from '../web/page-screenshots.js';

const fixture = await NotesFixture.start();
const listener = await CallbackListener.open();
afterAll(async () => {
  listener.close();
  await fixture.close();
});

/** A program that is made of an SDK. */
interface Program {
  connect(): Promise<void>;
  /** Redeems the code of the answer. */
  finish(answer: URLSearchParams): Promise<void>;
  call(name: string, input: Record<string, unknown>): Promise<string>;
  readonly errors: readonly string[];
  close(): Promise<void>;
}

const INFO = { name: 'Inspector', version: '1.0.0' };

function version1(store: ProgramStore): Program {
  const transport = new Transport1(new URL(fixture.resource), { authProvider: store });
  const client = new Client1(INFO);
  const errors: string[] = [];
  client.onerror = ({ message }) => errors.push(message);
  return {
    connect: () => client.connect(transport),
    finish: (answer) => transport.finishAuth(answer.get('code') ?? ''),
    call: async (name, input) => JSON.stringify(await client.callTool({ name, arguments: input })),
    errors,
    close: () => client.close(),
  };
}

function version2(store: ProgramStore, mode: 'legacy' | 'auto' = 'legacy'): Program {
  const transport = new Transport2(new URL(fixture.resource), { authProvider: store });
  const client = new Client2(INFO, { versionNegotiation: { mode } });
  const errors: string[] = [];
  client.onerror = ({ message }) => errors.push(message);
  return {
    connect: () => client.connect(transport),
    finish: (answer) => transport.finishAuth(answer),
    call: async (name, input) => JSON.stringify(await client.callTool({ name, arguments: input })),
    errors,
    close: () => client.close(),
  };
}

const visit = useChromium();

/** Lets the person allow what the program asks for, and redeems the code. */
async function allowIn(visitor: Visitor, program: Program): Promise<void> {
  const answer = listener.next();
  await allow(visitor);
  await program.finish(await answer);
}

/** Keeps the picture of docs/connect-mcp.md. */
async function keepPicture({ page }: Visitor): Promise<void> {
  if (KEEPS_PICTURES) {
    await page.setViewportSize({ width: 640, height: 920 });
    mkdirSync(join(RESULTS, 'connect-mcp'), { recursive: true });
    const path = join(RESULTS, 'connect-mcp/connect-mcp.png');
    await page.screenshot({ path, animations: 'disabled' });
  }
}

inChromium('a program made with an SDK of MCP', () => {
  it.each([
    ['1.32.2', version1],
    ['2.4.0', version2],
    ['2.4.0 (probing for 2026-07-28)', (store: ProgramStore) => version2(store, 'auto')],
  ])(
    'goes with %s from 401 to a tool, asks for more, and ends with its person',
    async (version, make) => {
      const store = new ProgramStore(listener.url);
      const first = make(store);
      await expect(first.connect()).rejects.toThrow('Unauthorized');
      const visitor = await openAsNewPerson(visit, store.authorization);
      await allowIn(visitor, first);
      expect(store.tokens()).toMatchObject({ scope: 'notes:read' });

      let program = make(store);
      await program.connect();
      expect(await program.call('read_notes', {})).toBe('{"content":[]}');
      store.expireAccess();
      expect(await program.call('read_notes', {})).toBe('{"content":[]}');
      expect(store.tokens()?.access_token).not.toBe('expired');

      const write = () => program.call('write_note', { text: 'buy milk' });
      if (version === '1.32.2') {
        // This version refreshes in place of asking the person. It asks where it has no refresh token,
        // and not twice in a connection.
        await expect(write()).rejects.toThrow('Server returned 403 after trying upscoping');
        await program.close();
        store.forgetRefreshToken();
        program = make(store);
        await program.connect();
      }
      await expect(write()).rejects.toThrow('Unauthorized');
      await visitor.page.goto(store.authorization);
      await sees(visitor, 'Change your notes');
      await keepPicture(visitor);
      await allowIn(visitor, program);
      expect(store.tokens()).toMatchObject({ scope: 'notes:read notes:write' });
      expect(await write()).toContain('Added.');

      expect(program.errors.join()).not.toContain('SSE stream disconnected');
      await fixture.disable(store.tokens()?.access_token ?? '');
      await waitFor('the end of the stream', () =>
        program.errors.join().includes('SSE stream disconnected'),
      );
      await expect(program.call('read_notes', {})).rejects.toThrow('Unauthorized');
      // The program drops its tokens at `invalid_grant` alone.
      expect(store.tokens()).toBeUndefined();
      await program.close();
      await first.close();
    },
  );
});
