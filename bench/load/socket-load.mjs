import { openRawSocket } from './raw-socket.mjs';

/** Handshakes under way at one time: well below any listen backlog. */
const CONCURRENCY = 50;

let sockets = [];

process.on('message', async (message) => {
  if (message === 'close') {
    await Promise.all(sockets.map(closed));
    sockets = [];
    process.send('closed');
    return;
  }
  const { port, count, tokens } = message;
  const startedAt = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const token = tokens[next % tokens.length];
      next += 1;
      sockets.push(await connected(port, token));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  process.send({ seconds: (performance.now() - startedAt) / 1000 });
});

/** Resolves when the namespace is joined. */
async function connected(port, token) {
  const { socket, retryAfterSeconds } = await openRawSocket({ port, token }, '40');
  if (socket === undefined) {
    throw new Error(`refused, retry in ${retryAfterSeconds} s`);
  }
  return socket;
}

function closed(socket) {
  return new Promise((resolve) => {
    socket.removeAllListeners('close');
    socket.once('close', resolve);
    socket.destroy();
  });
}
