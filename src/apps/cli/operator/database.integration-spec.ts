import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { waitFor } from '../../../../test/helpers/wait.js';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import { withDataSource } from './database.js';

/** A message of the protocol of PostgreSQL. */
function message(type: string, body: string): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

const sockets = new Set<Socket>();
const servers: Server[] = [];
afterEach(() => {
  servers.splice(0).forEach((server) => server.close());
  sockets.forEach((socket) => socket.destroy());
});

/** Starts a server that answers the messages of each connection by these, and returns its host. */
async function listen(...answers: readonly Buffer[]): Promise<string> {
  const server = createServer((socket) => {
    const left = [...answers];
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(left.shift() ?? ''));
    socket.once('close', () => sockets.delete(socket));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(url: string): Promise<void> {
  const { settings } = resolveSettings({
    DATABASE_URL: url,
    SERVICE_MASTER_SECRET: 'a-master-secret-of-32-bytes-or-more!',
  });
  return withDataSource({ url }, settings, () => Promise.resolve());
}

describe(withDataSource, () => {
  it('names what to do where PgBouncer refuses a setting of the address', async () => {
    const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: options', '', ''];
    const host = await listen(message('E', fields.join('\0')));
    await expect(open(`postgres://ann:secret@${host}/gate?options=-c%20jit%3Doff`)).rejects.toThrow(
      'The database cannot be used: unsupported startup parameter: options. PgBouncer refuses settings in the query of ' +
        'DATABASE_URL: give them to the role (ALTER ROLE … SET), or name them in ignore_startup_parameters.',
    );
  });

  it('names a missing password, and keeps no connection to the database that asks for it', async () => {
    const asks = message('R', '\0\0\0\nSCRAM-SHA-256\0\0');
    const goesOn = message('R', '\0\0\0\vr=nonce,s=c2FsdA==,i=4096');
    const host = await listen(asks, goesOn);
    await expect(open(`postgres://ann@${host}/gate`)).rejects.toThrow(
      'The database cannot be used: It asks for a password, and DATABASE_URL has none.',
    );
    await waitFor('the connection ends', () => sockets.size === 0);
  });
});
