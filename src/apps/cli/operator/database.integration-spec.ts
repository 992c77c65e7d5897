import { createServer, type AddressInfo } from 'node:net';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import { withDataSource } from './database.js';

/** Answers each connection as PgBouncer answers a parameter that it does not know. */
const pooler = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => {
    const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: options', '', ''];
    const body = Buffer.from(fields.join('\0'));
    const head = Buffer.from('E\0\0\0\0');
    head.writeUInt32BE(body.length + 4, 1);
    socket.end(Buffer.concat([head, body]));
  });
});
await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve));
afterAll(() => pooler.close());

describe(withDataSource, () => {
  it('names what to do where PgBouncer refuses a setting of the address', async () => {
    const { port } = pooler.address() as AddressInfo;
    const url = `postgres://ann:secret@127.0.0.1:${port}/gate?options=-c%20jit%3Doff`;
    const { settings } = resolveSettings({
      DATABASE_URL: url,
      SERVICE_MASTER_SECRET: 'a-master-secret-of-32-bytes-or-more!',
    });
    await expect(withDataSource({ url }, settings, () => Promise.resolve())).rejects.toThrow(
      'The database cannot be used: unsupported startup parameter: options. PgBouncer refuses settings in the query of ' +
        'DATABASE_URL: give them to the role (ALTER ROLE … SET), or name them in ignore_startup_parameters.',
    );
  });
});
