import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { firstAddress, type RedisSettings } from './redis-client.js';

const LIMIT_MS = 1000;

/**
 * A server that gets the wrong protocol waits, or closes the connection: the client then reports a
 * time-out, or nothing.
 * @returns a sentence if the server speaks TLS and REDIS_URL does not, or the reverse
 */
export async function findWrongScheme(settings: RedisSettings): Promise<string | null> {
  const address = firstAddress(settings);
  if (settings.redisUrl.startsWith('rediss:')) {
    const socket = connect(address, () => socket.write('PING\r\n'));
    return (await isAnswered(socket))
      ? 'The server does not speak TLS: REDIS_URL has to begin with redis://.'
      : null;
  }
  // The connection sends nothing, so the certificate does not matter.
  const socket = connectTls({ ...address, rejectUnauthorized: false });
  const isEncrypted = new Promise<true>((done) => socket.once('secureConnect', () => done(true)));
  return (await Promise.race([isEncrypted, isAnswered(socket)]))
    ? 'The server speaks TLS: REDIS_URL has to begin with rediss://.'
    : null;
}

/** Ends the connection, and returns true if the first bytes are an answer of Redis. */
function isAnswered(socket: Socket): Promise<boolean> {
  return new Promise((done) => {
    socket.setTimeout(LIMIT_MS, () => socket.destroy());
    socket.once('data', (bytes: Buffer) => {
      done(/^[+-]/.test(bytes.toString('latin1')));
      socket.destroy();
    });
    socket.once('secureConnect', () => socket.destroy());
    socket.on('error', () => undefined);
    socket.once('close', () => done(false));
  });
}
