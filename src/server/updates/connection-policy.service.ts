import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { ClientAddressService } from '../auth/client-address.service.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { AppError } from '../../common/errors.js';
import { canonicalOrigin, isSameOrigin } from '../network/origins.js';
import { httpConfig } from '../config/http.config.js';
import { LiveConnectionsService } from './live-connections.service.js';

/** Admits the HTTP request of a connection before the connection exists. */
@Injectable()
export class ConnectionPolicyService {
  constructor(
    private readonly limits: RateLimitService,
    private readonly connections: LiveConnectionsService,
    private readonly addresses: ClientAddressService,
    @Inject(httpConfig.KEY) private readonly http: ConfigType<typeof httpConfig>,
  ) {}

  /** @throws AppError `origin-not-allowed`, `unavailable`, `rate-limited` */
  async check(request: IncomingMessage): Promise<void> {
    this.requireOrigin(request);
    this.connections.requireCapacity();
    await this.limits.count('handshakePerIp', this.addresses.of(request));
  }

  /**
   * Nothing else stops a foreign page: browsers send its origin with a WebSocket (ASVS 4.4.2). React
   * Native sends the address of the server as the origin.
   */
  private requireOrigin({ headers: { origin, host } }: IncomingMessage): void {
    const { corsOrigins } = this.http;
    const isAllowed =
      origin === undefined ||
      corsOrigins.includes('*') ||
      corsOrigins.includes(canonicalOrigin(origin) ?? '') ||
      isSameOrigin(origin, host);
    if (!isAllowed) {
      throw new AppError('origin-not-allowed');
    }
  }
}
