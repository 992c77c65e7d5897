import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { httpConfig } from '../config/http.config.js';
import { updatesConfig } from '../config/updates.config.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { ConnectionLimitsService } from './connection-limits.service.js';
import { ConnectionPolicyService } from './connection-policy.service.js';
import { HandshakeQueueService } from './handshake-queue.service.js';
import { UpdatesEngine } from './updates.engine.js';

/** Clients send nothing larger than a `ping`. */
const MAX_MESSAGE_BYTES = 16 * 1024;

/** Creates the engine with the configured transports and origins. */
@Injectable()
export class UpdatesEngineService {
  constructor(
    private readonly policy: ConnectionPolicyService,
    private readonly queue: HandshakeQueueService,
    private readonly limits: ConnectionLimitsService,
    private readonly metrics: MetricsService,
    @Inject(httpConfig.KEY) private readonly http: ConfigType<typeof httpConfig>,
    @Inject(updatesConfig.KEY) private readonly updates: ConfigType<typeof updatesConfig>,
  ) {}

  create(): UpdatesEngine {
    const { corsOrigins } = this.http;
    const { transports } = this.updates;
    return new UpdatesEngine(
      {
        transports: [...transports],
        maxHttpBufferSize: MAX_MESSAGE_BYTES,
        httpCompression: false,
        perMessageDeflate: false,
        // Browsers send a preflight before a request, but not before a WebSocket.
        ...(transports.includes('polling') && {
          cors: { origin: corsOrigins.includes('*') ? '*' : [...corsOrigins] },
        }),
      },
      this.policy,
      this.queue,
      this.limits,
      this.metrics,
    );
  }
}
