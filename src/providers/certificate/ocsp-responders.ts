import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/clock.js';
import { mtlsConfig } from '../../config/mtls.config.js';
import type { CertificateReference } from '../../policy/certificate/certificate-record.js';
import { UpstreamConnections } from '../http/upstream-connections.js';
import { UpstreamHttp, upstreamErrorIn } from '../http/upstream-http.js';
import type { IssuerKey } from './certificate-reference.js';
import { encodeOcspRequest, readOcspResponse, type OcspAnswer } from './ocsp-message.js';
import { REVOCATION_LIMITS } from './revocation-limits.js';

/** A few hundred bytes each. */
const MAX_ANSWERS = 10_000;
const NONCE_BYTES = 16;
const MAX_BYTES = 64 * 1024;

/** What the responders said, or why none did. */
export type OcspResult =
  | OcspAnswer
  | { readonly status: 'unknown'; readonly reason: string; readonly retryAfterMs?: number };

/** Asks OCSP responders about certificates, one request for a certificate at a time. */
@Injectable()
export class OcspResponders {
  private readonly upstreams = new Map<string, UpstreamHttp>();
  private readonly answers = new LRUCache<string, OcspResult & { readonly goodUntil: number }>({
    max: MAX_ANSWERS,
  });

  private readonly running = new Map<string, Promise<OcspResult>>();

  constructor(
    private readonly clock: Clock,
    private readonly connections: UpstreamConnections,
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
  ) {}

  /**
   * @param addresses of responders that may be asked
   * @param isFresh whether an answer of the cache is not enough
   */
  ask(
    certificate: CertificateReference,
    issuer: IssuerKey,
    addresses: readonly string[],
    isFresh: boolean,
  ): Promise<OcspResult> {
    const name = `${certificate.issuerName} ${issuer.name} ${certificate.serialNumber}`;
    const known = isFresh ? undefined : this.answers.get(name);
    if (known !== undefined && this.clock.now() < known.goodUntil) {
      return Promise.resolve(known);
    }
    const running =
      this.running.get(name) ??
      this.askAll(name, certificate, issuer, addresses).finally(() => this.running.delete(name));
    this.running.set(name, running);
    return running;
  }

  private async askAll(
    name: string,
    certificate: CertificateReference,
    issuer: IssuerKey,
    addresses: readonly string[],
  ): Promise<OcspResult> {
    let last: OcspResult = { status: 'unknown', reason: 'ocsp_no_responder' };
    for (const address of addresses) {
      last = await this.askOne(address, certificate, issuer);
      if (last.status !== 'unknown') {
        const longest = this.clock.now() + this.mtls.crlFetchSeconds * 1000;
        const goodUntil = Math.min(('until' in last && last.until) || Infinity, longest);
        this.answers.set(name, { ...last, goodUntil });
        return last;
      }
    }
    return last;
  }

  private async askOne(
    address: string,
    { issuerName, serialNumber }: CertificateReference,
    { key }: IssuerKey,
  ): Promise<OcspResult> {
    const question = {
      issuerName: Buffer.from(issuerName, 'base64'),
      issuerKey: key,
      serialNumber,
      nonce: randomBytes(NONCE_BYTES),
    };
    try {
      const response = await this.upstreamOf(address).fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/ocsp-request' },
        body: Uint8Array.from(encodeOcspRequest(question)),
      });
      if (response.status !== 200) {
        return { status: 'unknown', reason: 'ocsp_unavailable' };
      }
      return readOcspResponse(
        Buffer.from(await response.arrayBuffer()),
        question,
        this.clock.now(),
      );
    } catch (error) {
      const retryAfterMs = upstreamErrorIn(error)?.retryAfterMs;
      const unavailable = { status: 'unknown', reason: 'ocsp_unavailable' } as const;
      return { ...unavailable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    }
  }

  private upstreamOf(address: string): UpstreamHttp {
    const { origin } = new URL(address);
    const limits = { ...REVOCATION_LIMITS, maxBytes: MAX_BYTES };
    const upstream =
      this.upstreams.get(origin) ?? new UpstreamHttp(this.clock, this.connections, limits);
    this.upstreams.set(origin, upstream);
    return upstream;
  }
}
