import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRawSocket } from './raw-socket.mjs';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
const REPORT_MS = 100;

const counts = { joined: 0, refused: 0 };

process.once('message', ({ port, firstAddress, tokens }) => {
  tokens.forEach((token, index) => {
    void stayConnected({ port, token, localAddress: loopbackAddress(firstAddress + index) });
  });
  setInterval(() => process.send({ ...counts }), REPORT_MS);
});

/** Comes back whenever it is refused or cut off, as the client kit does (`connect-updates.ts`). */
async function stayConnected(how) {
  for (let attempt = 0; ; attempt += 1) {
    const { socket, retryAfterSeconds } = await openRawSocket(how, '42["hello"').catch(() => ({}));
    if (socket !== undefined) {
      attempt = 0;
      counts.joined += 1;
      await new Promise((resolve) => socket.once('close', resolve));
      counts.joined -= 1;
    } else if (retryAfterSeconds !== undefined) {
      counts.refused += 1;
    }
    const doubled = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
    const delayMs = retryAfterSeconds === undefined ? doubled : retryAfterSeconds * 1000;
    await sleep(delayMs * (1 + Math.random() / 2));
  }
}

/** Each client has an address of its own, as clients on the internet have. */
function loopbackAddress(number) {
  return `127.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
}
