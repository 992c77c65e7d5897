import { createServer } from 'node:http';
import { Server } from 'socket.io';

const server = createServer();
new Server(server, { path: '/v1/updates', transports: ['websocket'] });
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
