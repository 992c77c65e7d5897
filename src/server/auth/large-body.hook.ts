import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ArrivingBodies } from '../http/arriving-bodies.js';
import { readOnWhileClosing } from '../network/ended-connections.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import { AuthenticationGuard } from './authentication.guard.js';

/** 128 bodies have this length, with the default of SERVICE_BODY_LIMIT_BYTES. */
const ARRIVING_BYTES = 128 * 1024 * 1024;

/**
 * Authenticates callers of `LargeBody` routes before Fastify parses their body: Nest's guards run
 * later, and a stranger could make the server parse it.
 */
@Injectable()
export class LargeBodyHook {
  private readonly limitBytes: number;
  private readonly bodies = new ArrivingBodies(ARRIVING_BYTES);

  constructor(
    { httpAdapter }: HttpAdapterHost<FastifyAdapter>,
    private readonly guard: AuthenticationGuard,
    @Inject(httpConfig.KEY) http: HttpSettings,
  ) {
    this.limitBytes = http.bodyLimitBytes;
    httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      if (route.config?.largeBody === true) {
        const limitBytes = route.config.bodyLimitBytes ?? this.limitBytes;
        route.bodyLimit = limitBytes;
        route.preParsing = async (request, reply, payload) => {
          await this.authenticate(request, reply, limitBytes);
          this.bodies.add(request, reply, limitBytes);
          return payload;
        };
      }
    });
  }

  private async authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    limitBytes: number,
  ): Promise<void> {
    try {
      await this.guard.authenticate(request);
    } catch (error) {
      // Node reads and drops the rest of a refused request, which has to be bounded.
      if (!(Number(request.headers['content-length']) <= limitBytes)) {
        void reply.header('connection', 'close');
        readOnWhileClosing(request.raw.socket);
      }
      throw error;
    }
  }
}
