import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const SSL_REQUEST = 80_877_103;

/**
 * Stands between a server and PostgreSQL and notes every statement that is really executed, as the
 * frontend messages of the protocol name it. Statistics inside PostgreSQL would lag and would not
 * see what a pool adds (BEGIN, SET).
 *
 * @param {string} databaseUrl
 * @returns {Promise<{url: string, take: () => string[], close: () => Promise<void>}>}
 *   `take` hands out the statements since it was last called
 */
export async function startStatementCounter(databaseUrl) {
  const target = new URL(databaseUrl);
  const sockets = new Set();
  let statements = [];
  const proxy = createServer((client) => {
    const server = connect(Number(target.port || 5432), target.hostname);
    const read = messageReader((text) => statements.push(text));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
    }
    client.on('data', read);
    client.pipe(server);
    server.pipe(client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = `${proxy.address().port}`;
  return {
    url: url.href,
    take: () => {
      const taken = statements;
      statements = [];
      return taken;
    },
    close: async () => {
      sockets.forEach((socket) => socket.destroy());
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

/** Cuts a frontend's bytes into messages and reports each executed statement's text. */
function messageReader(onStatement) {
  let pending = Buffer.alloc(0);
  let isStarting = true;
  const textByStatement = new Map();
  let bound = '';

  const onMessage = (type, body) => {
    const [first, second] = body.toString('utf8').split('\0', 2);
    if (type === 'Q') {
      onStatement(first);
    } else if (type === 'P') {
      textByStatement.set(first, second);
    } else if (type === 'B') {
      bound = textByStatement.get(second) ?? '';
    } else if (type === 'E') {
      onStatement(bound);
    }
  };

  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const typeBytes = isStarting ? 0 : 1;
      if (pending.length < typeBytes + 4) {
        return;
      }
      const end = typeBytes + pending.readInt32BE(typeBytes);
      if (pending.length < end) {
        return;
      }
      const body = pending.subarray(typeBytes + 4, end);
      if (isStarting) {
        isStarting = body.readInt32BE(0) === SSL_REQUEST;
      } else {
        onMessage(String.fromCharCode(pending[0]), body);
      }
      pending = pending.subarray(end);
    }
  };
}
