import { connect } from 'node:net';

const MASKED_TEXT_FRAME = 0x81;
const MASK_BIT = 0x80;
const LENGTH_IN_16_BITS = 126;
const SWITCHING_PROTOCOLS = 'HTTP/1.1 101';

/**
 * One Socket.IO connection over a bare socket: a client library costs more CPU than the server that
 * is measured, and would be what limits it.
 *
 * @param {{port: number, token: string, localAddress?: string}} how
 * @param {string} until the message that ends the wait: `40` = joined, `42["hello"` = the first message
 * @returns {Promise<{socket?: import('node:net').Socket, retryAfterSeconds?: number}>} the socket, or
 *   when to return; it rejects when the network fails, or the server closes without a reason
 */
export function openRawSocket({ port, token, localAddress }, until) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, localAddress });
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('The server closed the connection.')));
    socket.write(upgradeRequest(port));
    const refuse = (retryAfterSeconds) => {
      resolve({ retryAfterSeconds });
      socket.destroy();
    };
    const take = (text) => {
      if (text.startsWith(until)) {
        resolve({ socket });
      } else if (text.startsWith('44')) {
        refuse(JSON.parse(text.slice(2)).data.retryAfterSeconds);
      } else if (text.startsWith('42["closing"')) {
        refuse(JSON.parse(text.slice(2))[1].retryAfterSeconds);
      } else {
        answer(socket, text, token);
      }
    };
    socket.on('data', messagesOf(take, refuse));
  });
}

/** Reads the answer to the upgrade, then the messages after it. @returns what takes each chunk */
function messagesOf(take, refuse) {
  let pending = Buffer.alloc(0);
  let isUpgraded = false;
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    if (!isUpgraded) {
      const end = pending.indexOf('\r\n\r\n');
      if (end < 0) {
        return;
      }
      const head = pending.toString('latin1', 0, end);
      if (!head.startsWith(SWITCHING_PROTOCOLS)) {
        refuse(Number(/^retry-after: (\d+)$/im.exec(head)?.[1]));
        return;
      }
      isUpgraded = true;
      pending = pending.subarray(end + 4);
    }
    for (let frame = takeFrame(pending); frame !== null; frame = takeFrame(pending)) {
      pending = frame.rest;
      take(frame.text);
    }
  };
}

/** Engine.IO 4 in front of Socket.IO 5: 0 open, 2 ping, 3 pong, 40 joined, 42 event, 44 refused. */
function answer(socket, text, token) {
  if (text.startsWith('0{')) {
    socket.write(textFrame(`40${JSON.stringify({ token })}`));
  } else if (text === '2') {
    socket.write(textFrame('3'));
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
