/**
 * A relay: a message to a channel reaches all its sockets. Gatehouse decides
 * who may connect, and closes the sockets of people who leave.
 */
import { createServer } from 'node:http';
import { accessOf, createGuard } from '@gatehouse/guard';
import express from 'express';
import { WebSocketServer } from 'ws';

const { ISSUER, RESOURCE, CLIENT_SECRET_FILE, PORT } = process.env;

const guard = createGuard({
  issuer: ISSUER,
  resource: RESOURCE,
  client: { id: 'relay', secretFile: CLIENT_SECRET_FILE },
});

/** Beyond that, a reader that does not read would fill the memory. */
const MOST_UNREAD_BYTES = 1_048_576;

/** Sockets by channel. */
const channels = new Map();

function join(name, socket) {
  const sockets = channels.get(name) ?? new Set();
  channels.set(name, sockets.add(socket));
  socket.once('close', () => {
    sockets.delete(socket);
    if (sockets.size === 0) {
      channels.delete(name);
    }
  });
  return sockets;
}

const app = express();
app.use(guard.express());
app.get('/channels', (_request, response) => {
  response.json([...channels].map(([name, sockets]) => ({ name, people: sockets.size })));
});

const server = createServer(app);
guard.upgrade(server);
const upgrades = new WebSocketServer({ server, maxPayload: 65_536 });
upgrades.on('connection', (socket, request) => {
  // Without a listener, a frame that is not valid ends the process.
  socket.on('error', () => socket.terminate());
  const { account } = accessOf(request);
  const [channel] = request.url.split('?');
  const sockets = join(channel, socket);
  socket.on('message', (/** @type {Buffer} */ message) => {
    for (const other of sockets) {
      if (other.bufferedAmount > MOST_UNREAD_BYTES) {
        other.terminate();
      } else {
        other.send(`${account.slice(0, 8)}: ${message.toString()}`);
      }
    }
  });
});

await guard.ready();
server.listen(Number(PORT), '127.0.0.1', () => console.log(`The relay listens on ${RESOURCE}`));
