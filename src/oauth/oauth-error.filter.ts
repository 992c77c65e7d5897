import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS, type AppError, type ErrorCode } from '../common/errors.js';
import { ErrorFilter, noteRefusal, refusalAnswer } from '../common/http/error.filter.js';

/** Where OAuth's errors differ from `invalid_request` (RFC 6749, 5.2; RFC 8707, 2). */
const OAUTH_ERRORS: Partial<Record<ErrorCode, string>> = {
  'invalid-client': 'invalid_client',
  'invalid-target': 'invalid_target',
  'invalid-scope': 'invalid_scope',
  'insufficient-scope': 'insufficient_scope',
  'rate-limited': 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  internal: 'server_error',
};

/** Statuses that clients of OAuth know; any other refusal is 400 (RFC 6749, 5.2). */
const STATUSES: readonly ErrorCode[] = [
  ...(['invalid-client', 'rate-limited', 'unavailable', 'internal'] as const),
  'insufficient-scope',
  ...(['payload-too-large', 'unsupported-media-type'] as const),
];

/** Answers refusals with OAuth's `error`, next to the code and the message of every refusal. */
@Catch()
export class OAuthErrorFilter extends ErrorFilter implements ExceptionFilter {
  protected override send(refusal: AppError, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    noteRefusal(request, refusal.code);
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const status = STATUSES.includes(refusal.code) ? ERRORS[refusal.code].status : 400;
    const answer = refusalAnswer(refusal, request.id, status);
    const body = JSON.parse(answer.body) as Record<string, unknown>;
    const challenge = refusal.code === 'invalid-client' && { 'www-authenticate': 'Basic' };
    void reply
      .status(answer.status)
      .headers({ ...answer.headers, ...challenge })
      .send({ ...body, error: OAUTH_ERRORS[refusal.code] ?? 'invalid_request' });
  }
}
