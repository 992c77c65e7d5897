import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { ClientAddress } from '../auth/client-address.js';
import { RateLimits } from '../auth/rate-limits.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { LiveConnections } from './live-connections.js';

const RETRY_WHEN_FULL_SECONDS = 10;

/** Decides on the HTTP request that opens a connection, before there is one. */
@Injectable()
export class Admission {
  constructor(
    private readonly limits: RateLimits,
    private readonly connections: LiveConnections,
    private readonly addresses: ClientAddress,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws AppError `origin-not-allowed`, `unavailable`, `rate-limited` */
  async admit(request: IncomingMessage): Promise<void> {
    this.requireOrigin(request);
    this.requireRoom();
    await this.limits.count('handshakePerIp', this.addresses.of(request));
  }

  /** @throws AppError `unavailable` when as many are authenticated as one process serves */
  requireRoom(): void {
    if (this.connections.total >= this.settings.updates.maxConnections) {
      throw new AppError('unavailable', { retryAfterSeconds: RETRY_WHEN_FULL_SECONDS });
    }
  }

  /** Browsers send the page's origin with a WebSocket and nothing else stops them (ASVS 4.4.2). */
  private requireOrigin({ headers: { origin } }: IncomingMessage): void {
    const { corsOrigins } = this.settings.http;
    if (origin !== undefined && !corsOrigins.includes('*') && !corsOrigins.includes(origin)) {
      throw new AppError('origin-not-allowed');
    }
  }
}
