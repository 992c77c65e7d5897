/**
 * Joins a channel of the relay as a new account, sends the lines of the standard input and prints
 * what the others write. The line /leave ends the session at Gatehouse; the relay gets no message.
 */
import { createInterface } from 'node:readline';
import { DeviceKey, GatehouseClient } from '@gatehouse/client';
import { WebSocket } from 'ws';

const { ISSUER, RESOURCE } = process.env;
const [channel = 'lobby'] = process.argv.slice(2);

const visitor = new GatehouseClient({ serverUrl: ISSUER });
const { token } = await visitor.signUp(await DeviceKey.generate());
const client = visitor.withToken(token);

const socket = new WebSocket(`${RESOURCE.replace(/^http/, 'ws')}/${channel}`, [
  'relay',
  `bearer.${await client.tokenFor(RESOURCE)}`,
]);
socket.on('open', () => console.log(`joined ${channel}`));
socket.on('message', (/** @type {Buffer} */ message) => console.log(message.toString()));
socket.on('error', (error) => console.error(error.message));

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line === '/leave') {
    void client.logOut();
  } else {
    socket.send(line);
  }
});
socket.on('close', (code, reason) => {
  console.log(`closed: ${code} ${reason.toString()}`);
  lines.close();
});
