import { once } from 'node:events';
import { connect as openSocket, type Socket } from 'node:net';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { call, logIn } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const KIBIBYTE = 1024;

const server = await startServer({
  env: {
    SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: '0',
    SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE: '0',
  },
});
const { token } = await logIn(server);
const open: Stalled[] = [];
afterEach(() => open.splice(0).forEach(({ socket }) => socket.destroy()));
afterAll(() => server.stop());

interface Stalled {
  readonly socket: Socket;
  answer(): string;
}

/** Begins a request whose body never ends. */
async function stall(head: string, length: number | 'chunked'): Promise<Stalled> {
  const socket = openSocket(server.port, '127.0.0.1').on('error', () => undefined);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await once(socket, 'connect');
  const framing = length === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${length}`;
  const body = length === 'chunked' ? '1\r\n{\r\n' : '{';
  socket.write(`${head} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`);
  socket.write(`authorization: Bearer ${token}\r\n${framing}\r\n\r\n${body}`);
  const stalled = { socket, answer: () => answer };
  open.push(stalled);
  return stalled;
}

/** Begins so many of them, and returns which were answered, once `count` were. */
async function stallMany(many: number, how: Parameters<typeof stall>, count: number) {
  const stalled: Stalled[] = [];
  while (stalled.length < many) {
    stalled.push(await stall(...how));
  }
  const answered = (): boolean[] => stalled.map(({ answer }) => answer().endsWith('}'));
  await waitFor('refusals of the oldest', () => answered().filter(Boolean).length >= count);
  return { answered: answered(), answers: stalled.map(({ answer }) => answer()) };
}

describe('bodies that never end', () => {
  it.each([
    ['of strangers', 'POST /v1/auth/providers/github/webhook', 256 * KIBIBYTE, 256],
    ['of strangers at no route', 'POST /nothing', 32 * KIBIBYTE, 2048],
    ['in chunks, of strangers', 'POST /v1/auth/providers/github/webhook', 'chunked', 256],
    ['of an account', 'POST /v1/account/settings', 1024 * KIBIBYTE, 128],
    ['in chunks, of an account', 'POST /v1/account/settings', 'chunked', 128],
  ] as const)(
    '%s are refused for newer ones, the oldest first',
    async (_whose, head, length, most) => {
      const { answered, answers } = await stallMany(most + 20, [head, length], 20);
      expect(answered.indexOf(false)).toBe(20);
      expect(answered.lastIndexOf(true)).toBe(19);
      expect(answers[0]).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 1\r\n[^]*"code":"unavailable"/i);
      expect((await call(server, 'GET', '/readyz')).status).toBe(200);
      expect((await logIn(server)).token).not.toBe(token);
    },
  );
});
