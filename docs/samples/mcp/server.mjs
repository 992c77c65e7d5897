/**
 * An MCP server with a tool that reads and one that writes. Gatehouse decides which programs may call
 * them, and ends the streams of people who leave.
 */
import { EventEmitter } from 'node:events';
import { accessOf, createGuard } from '@gatehouse/guard';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { z } from 'zod';

const { ISSUER, RESOURCE, CLIENT_SECRET_FILE, PORT } = process.env;
const INITIAL_SCOPE = 'notes:read';

const guard = createGuard({
  issuer: ISSUER,
  resource: RESOURCE,
  client: { id: 'notes', secretFile: CLIENT_SECRET_FILE },
  initialScope: INITIAL_SCOPE,
});

/** Notes by account. */
const notes = new Map();
/** Has an event for each change, by account. */
const changes = new EventEmitter().setMaxListeners(0);

/** A tool has one scope. A program without it gets 403, and can ask its person for it. */
const TOOLS = {
  read_notes: {
    scope: 'notes:read',
    config: { description: 'Returns your notes.' },
    run: (account) => notes.get(account) ?? [],
  },
  write_note: {
    scope: 'notes:write',
    config: { description: 'Adds a note.', inputSchema: { text: z.string().max(1000) } },
    run: (account, { text }) => {
      notes.set(account, [...(notes.get(account) ?? []).slice(-99), text]);
      changes.emit(account);
      return ['Added.'];
    },
  },
};

/** Returns the scopes of the tools that a body of JSON-RPC calls; older clients send several calls at once. */
function scopesOf(body) {
  const names = [body].flat().map((call) => call?.method === 'tools/call' && call.params?.name);
  const tools = names.filter((name) => Object.hasOwn(TOOLS, name)).map((name) => TOOLS[name]);
  return [...new Set([INITIAL_SCOPE, ...tools.map(({ scope }) => scope)])].join(' ');
}

/** Each request has a server of its own: no session of MCP can be taken over with another token. */
function createServer({ account }) {
  const server = new McpServer(
    { name: 'notes', version: '1.0.0' },
    { capabilities: { logging: {} } },
  );
  for (const [name, { config, run }] of Object.entries(TOOLS)) {
    server.registerTool(name, { inputSchema: {}, ...config }, (input) => ({
      content: run(account, input).map((text) => ({ type: 'text', text })),
    }));
  }
  return server;
}

const app = express();
// Serves the metadata, refuses requests without a token, and cuts the streams of sessions that end.
app.use(guard.express({ scope: INITIAL_SCOPE }));
// Whatever its type: the SDK of MCP would read a body that is not parsed here, and no scope would be checked.
app.use(express.json({ type: () => true }));
app.use((request, response, next) => {
  guard.requireScope(scopesOf(request.body))(request, response, next);
});
app.all(new URL(RESOURCE).pathname, async (request, response) => {
  const access = accessOf(request);
  const server = createServer(access);
  const notify = () => void server.sendLoggingMessage({ level: 'info', data: 'Notes changed.' });
  if (request.method === 'GET') {
    changes.on(access.account, notify);
  }
  response.once('close', () => {
    changes.off(access.account, notify);
    void server.close();
  });
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});

await guard.ready();
app.listen(Number(PORT), '127.0.0.1', () => console.log(`The notes are at ${RESOURCE}`));
