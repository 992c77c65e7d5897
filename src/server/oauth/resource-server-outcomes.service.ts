import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordOf } from '../../core/protocol/is-record.js';
import { refusalCodeOf } from '../http/error.filter.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { MetricsService, RESOURCE_SERVER_REQUESTS } from '../metrics/metrics.service.js';
import { clientIdIn } from './client-authentication.service.js';
import { EXCHANGE } from './oauth.dto.js';
import { SigningKeysService } from './signing-keys.service.js';

type CountedRequest = 'token' | 'introspection' | 'forward_auth';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The outcomes of this route are counted by resource server. */
    readonly resourceServerRequest?: CountedRequest;
  }
}

const LABELS = ['request', 'resource_server', 'outcome', 'reason'] as const;

type Labels = Record<(typeof LABELS)[number], string>;

interface KnownOutcome {
  readonly resourceServer: string;
  readonly outcome: 'ok' | 'inactive';
}

/**
 * Counts the outcomes of exchanges, introspections and questions of proxies. This is a hook of the
 * response, because no interceptor runs for what the body parser or the limit of an address refuse.
 */
@Injectable()
export class ResourceServerOutcomesService implements OnModuleInit {
  private readonly known = new WeakMap<FastifyRequest, KnownOutcome>();
  private readonly counts = new Map<string, Labels & { value: number }>();

  constructor(
    { httpAdapter }: HttpAdapterHost,
    private readonly metrics: MetricsService,
    private readonly keys: SigningKeysService,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
  ) {
    // Nest adds the routes before it calls `onModuleInit`.
    httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      const counted = route.config?.resourceServerRequest;
      if (counted !== undefined) {
        route.onResponse = (request, reply, done): void => {
          this.count(counted, request, reply);
          done();
        };
      }
    });
  }

  onModuleInit(): void {
    this.metrics.observeCounts(
      RESOURCE_SERVER_REQUESTS,
      'Requests about tokens of backends: kind of the request (exchange, introspection, forward_auth, or token for other grants), resource server (unknown: it named none), outcome (ok, inactive, refused, failed) and the code of a refusal or failure.',
      LABELS,
      () => [...this.counts.values()],
    );
    this.metrics.observeEach(
      'gatehouse_signing_key_timestamp_seconds',
      'Time from which the newest key for tokens of backends signs, by algorithm.',
      ['alg'],
      () => this.keys.newest.map(({ alg, signsFrom }) => ({ alg, value: signsFrom / 1000 })),
    );
  }

  /** Notes what the request itself does not show. */
  note(request: FastifyRequest, resourceServer: string, outcome: KnownOutcome['outcome']): void {
    this.known.set(request, { resourceServer, outcome });
  }

  private count(counted: CountedRequest, request: FastifyRequest, reply: FastifyReply): void {
    const known = this.known.get(request);
    const reason = refusalCodeOf(request) ?? '';
    const labels = {
      request: counted === 'token' ? kindOfToken(request) : counted,
      resource_server: known?.resourceServer ?? this.named(counted, request),
      outcome: reason === '' ? (known?.outcome ?? 'ok') : refusalOutcome(reply),
      reason,
    };
    const key = Object.values(labels).join(' ');
    const row = this.counts.get(key) ?? { ...labels, value: 0 };
    row.value += 1;
    this.counts.set(key, row);
  }

  /** Only configured ids are labels: a request can name any text. */
  private named(counted: CountedRequest, request: FastifyRequest): string {
    const { resource } = recordOf(request.body);
    const { id } = request.params as { id?: string };
    const found = this.servers.find((server) => {
      switch (counted) {
        case 'token':
          return server.resource === resource;
        case 'introspection':
          return server.id === clientIdIn(request.headers.authorization);
        case 'forward_auth':
          return server.id === id;
      }
    });
    return found?.id ?? 'unknown';
  }
}

function refusalOutcome({ statusCode }: FastifyReply): string {
  return statusCode >= 500 ? 'failed' : 'refused';
}

/** A body that could not be read has no fields. */
function kindOfToken({ body }: FastifyRequest): string {
  return recordOf(body)['grant_type'] === EXCHANGE ? 'exchange' : 'token';
}
