import { STATUS_CODES } from 'node:http';
import { ERRORS, type AppError } from './errors.js';

/** A refusal as an HTTP response in the contract's shape, whatever sends it. */
export interface RefusalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @param status where HTTP has a closer one than the code's own (408, 431) */
export function refusalAnswer(
  refusal: AppError,
  requestId: string,
  status: number = ERRORS[refusal.code].status,
): RefusalAnswer {
  const { retryAfterSeconds } = refusal;
  return {
    status,
    headers: {
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': requestId,
    },
    body: JSON.stringify({ ...refusal.toBody(requestId), statusCode: status }),
  };
}

/** The bytes of an answer after which the connection closes, where Node has no response object. */
export function answerBytes({ status, headers, body }: RefusalAnswer): string {
  const fields = { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
