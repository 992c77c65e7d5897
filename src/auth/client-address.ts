import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import { Inject, Injectable } from '@nestjs/common';
import { trustOf } from '../common/trusted-proxies.js';
import { SETTINGS, type Settings } from '../config/settings.js';

/**
 * The address a request comes from: the peer's, or what a trusted proxy says of it. HTTP and the
 * handshake use the same rule; a header from any other peer says nothing (ASVS 4.1.3).
 */
@Injectable()
export class ClientAddress {
  /** Whether a proxy at this address is believed. */
  readonly isTrusted: (address: string, hop: number) => boolean;

  constructor(@Inject(SETTINGS) { http }: Settings) {
    this.isTrusted = trustOf(http.trustedProxies);
  }

  of(request: IncomingMessage): string {
    return proxyAddress(request, this.isTrusted);
  }
}
