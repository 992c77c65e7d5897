import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { AppError } from '../../common/errors.js';
import { readOnWhileClosing } from '../network/ended-connections.js';
import { Clock } from '../../common/runtime/clock.js';
import { ProviderSignalRepository } from '../storage/repositories/signals/provider-signal.repository.js';
import { DirectoriesService } from './directories.service.js';

export const SCIM_BODY_LIMIT_BYTES = 262_144;

/** The time of the last request is stored so often at most. */
const NOTE_EVERY_MS = 10_000;

/** The header-auth application of Okta sends the token alone. */
const TOKEN = /^(?:bearer +)?(\S+) *$/i;

/** Authenticates the directory before its body is read, because a stranger may not send 256 KiB. */
@Injectable()
export class ScimAuthenticationHook {
  private readonly notedAt = new Map<string, number>();

  constructor(
    { httpAdapter }: HttpAdapterHost<FastifyAdapter>,
    private readonly directories: DirectoriesService,
    private readonly limits: RateLimitService,
    private readonly received: ProviderSignalRepository,
    private readonly clock: Clock,
  ) {
    httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      if (route.config?.scimBody === true) {
        route.preParsing = async (request, reply, payload) => {
          await this.authenticate(request, reply);
          return payload;
        };
      }
    });
  }

  private async authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      await this.check(request);
    } catch (error) {
      // Node reads and drops the rest of a refused request, which has to be bounded.
      if (Number(request.headers['content-length'] ?? 0) > SCIM_BODY_LIMIT_BYTES) {
        void reply.header('connection', 'close');
        readOnWhileClosing(request.raw.socket);
      }
      throw error;
    }
  }

  /** @throws AppError `not-found`, `missing-token`, `invalid-token`, `rate-limited` */
  private async check({ params, headers, ip }: FastifyRequest): Promise<void> {
    const { provider = '' } = params as { readonly provider?: string };
    if (this.directories.settingsOf(provider) === null) {
      throw new AppError('not-found');
    }
    const token = TOKEN.exec(headers.authorization ?? '')?.[1];
    if (token === undefined || !(await this.directories.isToken(provider, token))) {
      await this.limits.count('loginPerIp', ip);
      throw new AppError(token === undefined ? 'missing-token' : 'invalid-token');
    }
    await this.limits.count('scimPerProvider', provider);
    await this.note(provider);
  }

  private async note(provider: string): Promise<void> {
    const now = this.clock.now();
    if (now - (this.notedAt.get(provider) ?? -Infinity) >= NOTE_EVERY_MS) {
      this.notedAt.set(provider, now);
      const receivedAt = new Date(now);
      // Without storage, the request itself is refused.
      await this.received.note({ provider, kind: 'scim', receivedAt }).catch(() => undefined);
    }
  }
}
