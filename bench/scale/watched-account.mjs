import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { io } from 'socket.io-client';
import { signUp } from '../client.mjs';

const WITHIN_MS = 30_000;

/**
 * An account of its own with open sockets, on which the time of an event is taken.
 *
 * @param {string} url that it signs up at, and connects to
 * @param {number} count of sockets, at most SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT
 * @param {(account: {accountId: string}) => Promise<void>} prepare runs before the sockets are opened
 */
export async function watchAccount(url, count, prepare = async () => {}) {
  const account = await signUp(url);
  await prepare(account);
  const sockets = Array.from({ length: count }, () =>
    io(url, {
      path: '/v1/updates',
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      auth: { token: account.token },
    }),
  );
  await within(sockets.map((socket) => once(socket, 'hello')));
  return {
    ...account,
    /** @returns {Promise<number>} ms from the start of `act` until every socket had the event */
    timeUntil: async (event, act) => {
      const received = within(
        sockets.map((socket) => new Promise((done) => socket.once(event, done))),
      );
      const startedAt = performance.now();
      await Promise.all([received, act()]);
      return performance.now() - startedAt;
    },
    close: () => sockets.forEach((socket) => socket.close()),
  };
}

async function within(events) {
  const waiting = new AbortController();
  const tooLong = sleep(WITHIN_MS, undefined, { signal: waiting.signal }).then(
    () => {
      throw new Error('Not every socket of the account had the event.');
    },
    () => undefined,
  );
  try {
    await Promise.race([Promise.all(events), tooLong]);
  } finally {
    waiting.abort();
  }
}
