import { text } from 'node:stream/consumers';
import { connect, type ConnectionOptions } from 'node:tls';
import type { Json } from './client.js';

export interface RawHttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body; empty when it is not JSON. */
  readonly body: Json;
}

/** A request that is sent byte by byte as it is written: no name or path is normalized or checked. */
export interface RawHttpRequest {
  readonly method?: string;
  readonly target?: string;
  /** Default: 1.1. */
  readonly version?: string;
  /** Whole lines, without the line break. */
  readonly headers: readonly string[];
  readonly body?: string;
}

/** Sends one request over TLS, and reads the answer until the connection closes. */
export async function sendRaw(
  tls: ConnectionOptions,
  { method = 'GET', target = '/', version = '1.1', headers, body = '' }: RawHttpRequest,
): Promise<RawHttpAnswer> {
  const lines = [`${method} ${target} HTTP/${version}`, ...headers, 'Connection: close', '', body];
  const socket = connect(tls);
  socket.write(lines.join('\r\n'));
  return parse(await text(socket));
}

function parse(answer: string): RawHttpAnswer {
  const end = answer.indexOf('\r\n\r\n');
  const [first = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const isChunked = headers['transfer-encoding'] === 'chunked';
  const text = isChunked ? unchunk(answer.slice(end + 4)) : answer.slice(end + 4);
  return { status: Number(first.split(' ')[1]), headers, text, body: jsonOf(text) };
}

function unchunk(text: string): string {
  const size = Number.parseInt(text, 16);
  const start = text.indexOf('\r\n') + 2;
  return size > 0 ? text.slice(start, start + size) + unchunk(text.slice(start + size + 2)) : '';
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}
