import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { AuditLog } from '../../audit/audit-log.js';
import { trustOf } from '../../common/trusted-proxies.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import {
  canonicalHeader,
  certificateHeader,
  type ForwardedHeader,
} from '../../policy/forwarded-certificate.js';
import { customHeaderNames } from './forwarded-format.js';

const MAX_KNOWN_NAMES = 1000;

type ClaimedName = Pick<ForwardedHeader, 'name' | 'canonical'>;

/**
 * Takes every header that claims something of a client certificate out of every request before
 * anybody can read it. What a trusted proxy sent is kept for the login; from anybody else it is
 * gone and counted in the audit trail.
 */
@Injectable()
export class CertificateHeaders {
  private readonly kept = new WeakMap<IncomingMessage, readonly ForwardedHeader[]>();
  private readonly own: ReadonlySet<string>;
  private readonly isProxy: (address: string, hop: number) => boolean;
  /** Clients send the same few names again and again. */
  private readonly knownNames = new Map<string, ClaimedName | null>();

  constructor(
    private readonly audit: AuditLog,
    @Inject(SETTINGS) { mtls }: Settings,
  ) {
    const believes = mtls.enabled && mtls.mode === 'forwarded' && mtls.trustForwardedHeaders;
    this.isProxy = trustOf(believes ? mtls.trustedProxies : []);
    this.own = new Set(customHeaderNames(mtls).map(canonicalHeader));
  }

  /** Call it before the routes are added. */
  stripFrom(server: FastifyInstance): void {
    server.addHook('onRequest', (request, _reply, done) => {
      this.take(request.raw);
      done();
    });
  }

  /** What the proxy said; null when the request does not come from one that is believed. */
  of(request: IncomingMessage): readonly ForwardedHeader[] | null {
    return this.isFromProxy(request) ? (this.kept.get(request) ?? []) : null;
  }

  private take(request: IncomingMessage): void {
    if (!this.hasClaim(request.rawHeaders)) {
      return;
    }
    const claims = this.strip(request);
    if (this.isFromProxy(request)) {
      this.kept.set(request, claims);
    } else {
      this.audit.refuse('mtls', 'untrusted-proxy');
    }
  }

  /** Moves the rest together in place, and gives back what it took. */
  private strip({ headers, rawHeaders }: IncomingMessage): ForwardedHeader[] {
    const claims: ForwardedHeader[] = [];
    let kept = 0;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const [name = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]];
      const claimed = this.claimedName(name);
      if (claimed !== null) {
        claims.push({ ...claimed, value });
        delete headers[claimed.name];
      } else {
        rawHeaders[kept] = name;
        rawHeaders[kept + 1] = value;
        kept += 2;
      }
    }
    rawHeaders.length = kept;
    return claims;
  }

  private hasClaim(rawHeaders: readonly string[]): boolean {
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (this.claimedName(rawHeaders[index] ?? '') !== null) {
        return true;
      }
    }
    return false;
  }

  private claimedName(sent: string): ClaimedName | null {
    const known = this.knownNames.get(sent);
    if (known !== undefined) {
      return known;
    }
    const canonical = certificateHeader(sent, this.own);
    const claimed = canonical === null ? null : { name: sent.toLowerCase(), canonical };
    if (this.knownNames.size < MAX_KNOWN_NAMES) {
      this.knownNames.set(sent, claimed);
    }
    return claimed;
  }

  /** The peer of the connection itself: `X-Forwarded-For` is a header like the others. */
  private isFromProxy({ socket }: IncomingMessage): boolean {
    return socket.remoteAddress !== undefined && this.isProxy(socket.remoteAddress, 0);
  }
}
