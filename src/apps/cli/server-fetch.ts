import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRetryAfter } from '../../common/retry-after.js';
import { answerTooLarge, MAX_ANSWER_BYTES } from '../../packages/client/api/answer-text.js';
import type { FetchAnswer } from '../../packages/client/api/answer-text.js';
import type { Fetch } from '../../packages/client/api/api-client-transport.js';

/** undefined = the global fetch, which takes as long to load as the rest of a short command. */
export let serverFetch: Fetch | undefined = exchange;

/** Node's http client does not support proxies. */
export function useGlobalFetch(): void {
  serverFetch = undefined;
}

type Init = Parameters<Fetch>[1];

/** The first request of a sign-up or a login, which changes nothing. */
const FIRST_REQUEST = /\/v1\/auth\/challenge$/;
/** A server answers 503 until its database is ready, and a proxy in front of it until it listens. */
const STARTING: readonly (number | undefined)[] = [502, 503, 504];
/** This ends before the time-out of the whole call. */
const STARTING_MS = 10_000;
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 3000;

async function exchange(url: string, init: Init): Promise<FetchAnswer> {
  const giveUpAt = performance.now() + (FIRST_REQUEST.test(url) ? STARTING_MS : 0);
  let { message, text } = await send(url, init);
  while (STARTING.includes(message.statusCode) && performance.now() < giveUpAt) {
    const pauseMs = readRetryAfter(message.headers['retry-after'], Date.now()) ?? 0;
    if (pauseMs > LONGEST_PAUSE_MS) {
      break;
    }
    // Pages of proxies have no header, and an answer to try at once must not be a loop.
    await sleep(Math.max(pauseMs, SHORTEST_PAUSE_MS));
    ({ message, text } = await send(url, init));
  }
  const { statusCode: status = 0, headers } = message;
  return {
    status,
    ok: status >= 200 && status < 300,
    type: 'basic',
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    text: () => Promise.resolve(text),
  };
}

async function send(url: string, init: Init): Promise<{ message: IncomingMessage; text: string }> {
  // TLS takes as long to load as the other modules of a short command.
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
  return new Promise((done, fail) => {
    const { method, body, signal } = init;
    const headers = {
      ...init.headers,
      // Set here, because Node sends the body of a DELETE without a length.
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    };
    const sent = request(url, { method, headers, signal }, (message) => {
      let text = '';
      let bytes = 0;
      message.setEncoding('utf8');
      message.on('data', (chunk: string) => {
        bytes += Buffer.byteLength(chunk);
        if (bytes > MAX_ANSWER_BYTES) {
          message.destroy(answerTooLarge(message.statusCode ?? 0));
        } else {
          text += chunk;
        }
      });
      message.on('error', fail).on('end', () => done({ message, text }));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server had closed an idle connection and has not processed this request.
      if (sent.reusedSocket && error.code === 'ECONNRESET') {
        done(send(url, init));
      } else {
        fail(error);
      }
    });
    // Nothing else reports an answer that changes the protocol (101). After a whole one, this is too late to count.
    sent.on('close', () => fail(new Error('The connection was closed before the whole answer.')));
    sent.end(body);
  });
}
