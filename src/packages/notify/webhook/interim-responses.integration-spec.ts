import { createServer, type Server, type Socket } from 'node:net';
import { listen } from '../../../../test/helpers/local-server.js';
import { closeAll, deliveriesTo, senderWith } from '../../../../test/fixtures/webhook-fixture.js';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
const ACCEPTED = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nthanks';

let server: Server | null = null;
afterEach(async () => {
  await closeAll();
  server?.close();
});

/** Answers each request with these parts, each after the previous one was read. */
async function answering(parts: readonly string[]) {
  const bodies: string[] = [];
  server = createServer({ noDelay: true }, (socket) => {
    let text = '';
    socket
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const [, head = '', body = ''] = /^(.*?\r\n\r\n)(.*)$/s.exec(text) ?? [];
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
        if (Buffer.byteLength(body) === length) {
          bodies.push(body);
          text = '';
          void writeAll(socket, parts);
        }
      });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/hook`, bodies };
}

async function writeAll(socket: Socket, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    await new Promise((done) => socket.write(part, done));
    // The other side runs in this process, and reads meanwhile.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
}

describe('A webhook that sends “100 Continue” without being asked', () => {
  it.each<[string, string[]]>([
    ['first', [CONTINUE, ACCEPTED]],
    ['in the same packet', [`${CONTINUE}${ACCEPTED}`]],
    ['twice', [CONTINUE, CONTINUE, ACCEPTED]],
    ['twice in one packet', [`${CONTINUE}${CONTINUE}${ACCEPTED}`]],
    ['in pieces', ['HTTP/1.1 100 Continue\r\nvia: a', '\r\n\r', '\nHTTP/1.1 200 O', 'K\r\n\r\n']],
    ['with fields', ['HTTP/1.1 100 Continue\r\nserver: x\r\n\r\n', ACCEPTED]],
    ['of HTTP 1.0', ['HTTP/1.0 100 Continue\r\n\r\n', ACCEPTED]],
    ['after another interim answer', [EARLY_HINTS, CONTINUE, ACCEPTED]],
    ['after another one in the same packet', [`${EARLY_HINTS}${CONTINUE}${ACCEPTED}`]],
    [
      'between others in pieces',
      [`${EARLY_HINTS}HTTP/1.1 1`, `00 \r\n\r\n${EARLY_HINTS}`, ACCEPTED],
    ],
    ['before another interim answer', [CONTINUE, EARLY_HINTS, ACCEPTED]],
  ])('gets a delivery once: %s', async (_case, parts) => {
    const receiver = await answering(parts);
    const sender = senderWith();
    const [delivery] = deliveriesTo({ url: receiver.url });
    // The connection is used again.
    for (const count of [1, 2]) {
      expect(await sender.attempt(delivery!)).toEqual({ state: 'sent' });
      expect(receiver.bodies).toHaveLength(count);
    }
  });

  it('gets it again where its final answer asks for that', async () => {
    const receiver = await answering([CONTINUE, 'HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n']);
    const [delivery] = deliveriesTo({ url: receiver.url });
    expect(await senderWith().attempt(delivery!)).toMatchObject({ code: 'http-503' });
  });

  it('does not block the sender with an endless one', async () => {
    const receiver = await answering([
      `HTTP/1.1 100 Continue\r\n${`a: ${'b'.repeat(100)}\r\n`.repeat(500)}`,
    ]);
    const [delivery] = deliveriesTo({ url: receiver.url });
    const result = await senderWith({ timeoutMs: 600_000 }).attempt(delivery!);
    expect(result).toMatchObject({ state: 'failed', isTemporary: true });
  });
});
