import { once } from 'node:events';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { ServerUnreachable } from '../../client/problem.js';

export interface DoctorTarget {
  readonly url: string;
  /** Address to connect to in place of what the name resolves to. */
  readonly connectTo: string | null;
}

export interface DoctorAnswer {
  readonly status: number;
  /** The code of a Gatehouse server; null when somebody else answered. */
  readonly code: string | null;
  readonly retryAfterSeconds: number | null;
}

const TIME_LIMIT_MS = 10_000;
const MAX_BODY_CHARACTERS = 64 * 1024;

/**
 * One request with header names exactly as they are given: `fetch` would tidy them up.
 *
 * @throws ServerUnreachable
 */
export async function ask(
  { url, connectTo }: DoctorTarget,
  method: string,
  path: string,
  headers: readonly (readonly [name: string, value: string])[],
): Promise<DoctorAnswer> {
  const { hostname, host, port, protocol, pathname } = new URL(url);
  const spelled: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    spelled[name] = [...(spelled[name] ?? []), value];
  }
  const options: RequestOptions & { servername?: string } = {
    host: connectTo ?? hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? undefined : port,
    method,
    path: pathname.replace(/\/$/, '') + path,
    headers: { host, ...spelled },
    agent: false,
    timeout: TIME_LIMIT_MS,
    ...(connectTo !== null && protocol === 'https:' && { servername: hostname }),
  };
  try {
    const sent = protocol === 'https:' ? requestHttps(options) : requestHttp(options);
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return await read(answer);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServerUnreachable(url, reason, { cause: error });
  }
}

async function read(answer: IncomingMessage): Promise<DoctorAnswer> {
  let text = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer as AsyncIterable<string>) {
    text = (text + chunk).slice(0, MAX_BODY_CHARACTERS);
  }
  const retryAfter = Number(answer.headers['retry-after']);
  return {
    status: answer.statusCode ?? 0,
    code: codeOf(text),
    retryAfterSeconds: Number.isInteger(retryAfter) && retryAfter > 0 ? retryAfter : null,
  };
}

function codeOf(text: string): string | null {
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    return typeof code === 'string' ? code : null;
  } catch {
    return null;
  }
}
