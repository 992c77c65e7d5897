import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Fetch, FetchAnswer } from '../client/api/api-client-transport.js';

/**
 * How commands ask the server: Node's own fetch takes as long to load as all else that a short command
 * does (90 of 170 ms of processor time). undefined = the global one, see {@link useGlobalFetch}.
 */
export let serverFetch: Fetch | undefined = exchange;

/** For proxies: Node's http client knows none. */
export function useGlobalFetch(): void {
  serverFetch = undefined;
}

type Init = Parameters<Fetch>[1];

async function exchange(url: string, init: Init): Promise<FetchAnswer> {
  const { message, text } = await send(url, init);
  const { statusCode: status = 0, headers } = message;
  return {
    status,
    ok: status >= 200 && status < 300,
    type: 'basic',
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    text: () => Promise.resolve(text),
  };
}

function send(url: string, init: Init): Promise<{ message: IncomingMessage; text: string }> {
  return new Promise((done, fail) => {
    const { method, body, signal } = init;
    const headers = {
      ...init.headers,
      // Not left to Node, which sends the body of a DELETE without a length.
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    };
    const request = url.startsWith('https:') ? httpsRequest : httpRequest;
    const sent = request(url, { method, headers, signal }, (message) => {
      let text = '';
      message.setEncoding('utf8');
      message.on('data', (chunk: string) => (text += chunk));
      message.on('error', fail).on('end', () => done({ message, text }));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server had closed an idle connection, and has not seen this request.
      if (sent.reusedSocket && error.code === 'ECONNRESET') {
        done(send(url, init));
      } else {
        fail(error);
      }
    });
    sent.end(body);
  });
}
