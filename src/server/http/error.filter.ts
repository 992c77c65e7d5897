import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import {
  Catch,
  HttpException,
  Logger,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readOnWhileClosing } from '../network/ended-connections.js';
import { AppError, ERRORS, type ErrorCode } from '../../common/errors.js';
import { acceptedTypeOf, type FormattedRefusal } from './request-rules.js';

/** Refusals of the framework itself. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid-request',
  404: 'not-found',
  405: 'not-found',
  408: 'invalid-request',
  413: 'payload-too-large',
  414: 'invalid-request',
  415: 'unsupported-media-type',
  429: 'rate-limited',
  431: 'invalid-request',
  503: 'unavailable',
};

/** Answers every exception in the contract's shape; an unknown one is `internal`. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Http');

  catch(error: unknown, host: ArgumentsHost): void {
    const refusal = toAppError(error);
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const { level, status } = ERRORS[refusal.code];
    const facts = {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url,
      status,
      code: refusal.code,
    };
    if (level === 'error') {
      this.logger.error({ msg: 'request failed', ...facts, error: describe(error) });
    } else if (level === 'warn' && refusal.cause !== undefined) {
      this.logger.warn({ msg: 'request refused', ...facts, cause: describe(refusal.cause) });
    } else {
      this.logger.debug({ msg: 'request refused', ...facts });
    }
    sendError(host.switchToHttp().getResponse<FastifyReply>(), refusal, request.id);
  }
}

const refusalCodes = new WeakMap<object, ErrorCode>();

/** Keeps the code for hooks of the response. */
export function noteRefusal(request: FastifyRequest, code: ErrorCode): void {
  refusalCodes.set(request, code);
}

export function refusalCodeOf(request: FastifyRequest): ErrorCode | undefined {
  return refusalCodes.get(request);
}

export function sendError(reply: FastifyReply, error: AppError, requestId: string): void {
  const { config } = reply.request.routeOptions;
  const refusal =
    error.code === 'unsupported-media-type'
      ? new AppError(error.code, { mediaType: acceptedTypeOf(config) })
      : error;
  noteRefusal(reply.request, refusal.code);
  if (refusal.code === 'payload-too-large') {
    readOnWhileClosing(reply.request.raw.socket);
  }
  const format = config.refusalFormat;
  const formatted = format?.(refusal, requestId);
  const answer = refusalAnswer(refusal, requestId, formatted?.status);
  void reply
    .status(answer.status)
    .headers({ ...answer.headers, ...formatted?.headers })
    .send(formatted?.body ?? answer.body);
}

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  const status = error instanceof HttpException ? error.getStatus() : statusOf(error);
  return new AppError(BY_STATUS[status] ?? 'internal', {}, { cause: error });
}

function statusOf(error: unknown): number {
  const status: unknown =
    error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : 500;
}

/** Database errors keep their parameters in other fields. */
function describe(error: unknown): string | undefined {
  return error instanceof Error ? (error.stack ?? error.message) : undefined;
}

/**
 * Writes a refusal in the contract's shape.
 * @param status where HTTP has a more specific one than the code's own (408, 431)
 */
export function refusalAnswer(
  refusal: AppError,
  requestId: string,
  status: number = ERRORS[refusal.code].status,
): FormattedRefusal {
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

/** For connections where Node has no response object. */
export function answerBytes({ status, headers, body }: FormattedRefusal): string {
  const fields = { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

const VALID_REQUEST_ID = /^[\w.-]{1,128}$/;

/** Returns the caller's `x-request-id` if it is well formed, else a new one (contract, Errors). */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && VALID_REQUEST_ID.test(header) ? header : randomUUID();
}
