import { createServer } from 'node:http';

/** Reads every request and answers 204: the cheapest endpoint there is. */
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end());
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
