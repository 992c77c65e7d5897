import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { clientAddress, trustOf, type Trust } from '../network/trusted-proxies.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';

/** A trusted proxy may report the address; any other peer's header is ignored (ASVS 4.1.3). */
@Injectable()
export class ClientAddressService {
  /** True if a proxy at this address is trusted. */
  readonly isTrusted: Trust;

  constructor(@Inject(httpConfig.KEY) http: HttpSettings) {
    this.isTrusted = trustOf(http.trustedProxies);
  }

  of(request: IncomingMessage): string {
    return clientAddress(request, this.isTrusted);
  }
}
