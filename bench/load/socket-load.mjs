import { connect } from 'node:net';

/** Handshakes under way at one time: well below any listen backlog. */
const CONCURRENCY = 50;
const MASKED_TEXT_FRAME = 0x81;
const MASK_BIT = 0x80;
const LENGTH_IN_16_BITS = 126;

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
  const lane = async () => {
    while (next < count) {
      const token = tokens[next % tokens.length];
      next += 1;
      sockets.push(await connected(port, token));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  process.send({ seconds: (performance.now() - startedAt) / 1000 });
});

/**
 * One Socket.IO connection over a bare socket: a client library costs more CPU than the server that
 * is measured, and would be what limits it. Resolves when the namespace is joined.
 */
function connected(port, token) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let pending = Buffer.alloc(0);
    let isUpgraded = false;
    socket.on('error', reject);
    socket.once('close', () => reject(new Error(`closed early: ${pending}`)));
    socket.write(upgradeRequest(port));
    socket.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      if (!isUpgraded) {
        const end = pending.indexOf('\r\n\r\n');
        if (end < 0) {
          return;
        }
        isUpgraded = true;
        pending = pending.subarray(end + 4);
      }
      for (let frame = takeFrame(pending); frame !== null; frame = takeFrame(pending)) {
        pending = frame.rest;
        answer(socket, frame.text, token, resolve, reject);
      }
    });
  });
}

/** Engine.IO 4 in front of Socket.IO 5: 0 open, 2 ping, 3 pong, 40 joined, 44 refused. */
function answer(socket, text, token, resolve, reject) {
  if (text.startsWith('0{')) {
    socket.write(textFrame(`40${JSON.stringify({ token })}`));
  } else if (text === '2') {
    socket.write(textFrame('3'));
  } else if (text.startsWith('40')) {
    resolve(socket);
  } else if (text.startsWith('44')) {
    reject(new Error(`refused: ${text}`));
  }
}

function upgradeRequest(port) {
  return [
    'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n');
}

/** RFC 6455: a client masks. The mask is zero, which leaves the text as it is. */
function textFrame(text) {
  const payload = Buffer.from(text);
  const head =
    payload.length < LENGTH_IN_16_BITS
      ? [MASKED_TEXT_FRAME, MASK_BIT | payload.length]
      : [
          MASKED_TEXT_FRAME,
          MASK_BIT | LENGTH_IN_16_BITS,
          payload.length >> 8,
          payload.length & 0xff,
        ];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]);
}

/** The first whole frame of a server's bytes; null while there is none. */
function takeFrame(bytes) {
  if (bytes.length < 2) {
    return null;
  }
  const isLong = bytes[1] === LENGTH_IN_16_BITS;
  const start = isLong ? 4 : 2;
  if (bytes.length < start) {
    return null;
  }
  const end = start + (isLong ? bytes.readUInt16BE(2) : bytes[1]);
  return bytes.length < end
    ? null
    : { text: bytes.toString('utf8', start, end), rest: bytes.subarray(end) };
}

function closed(socket) {
  return new Promise((resolve) => {
    socket.removeAllListeners('close');
    socket.once('close', resolve);
    socket.destroy();
  });
}
