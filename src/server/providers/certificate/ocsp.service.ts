import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { millisecondsSince, momentOf, type Moment } from '../../../common/runtime/moment.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import type { RevocationReference } from '../../../core/policy/certificate/certificate-record.js';
import {
  encodeOcspRequest,
  readOcspResponse,
  type OcspAnswer,
} from '../../../core/x509/ocsp-message.js';
import type { IssuerKey } from '../../../core/x509/verify-signature.js';
import { UpstreamConnectionsService } from '../http/upstream-connections.service.js';
import { UpstreamHttp, upstreamErrorIn } from '../http/upstream-http.js';
import { REVOCATION_LIMITS } from './revocation-limits.js';

/** A few hundred bytes each. */
const MAX_ANSWERS = 10_000;
const NONCE_BYTES = 16;
const MAX_BYTES = 64 * 1024;

type OcspResult =
  | OcspAnswer
  | { readonly status: 'unknown'; readonly reason: string; readonly retryAfterMs?: number };

/** An answer of the cache, and how long it counts. */
type KeptAnswer = OcspResult & { readonly at: Moment; readonly keptMs: number };

@Injectable()
export class OcspService {
  private readonly upstreams = new Map<string, UpstreamHttp>();
  private readonly answers = new LRUCache<string, KeptAnswer>({ max: MAX_ANSWERS });

  private readonly running = new Map<string, Promise<OcspResult>>();

  constructor(
    private readonly runtime: Runtime,
    private readonly connections: UpstreamConnectionsService,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {}

  /** @param isFresh true if an answer of the cache is not enough */
  ask(
    certificate: RevocationReference,
    issuer: IssuerKey,
    addresses: readonly string[],
    isFresh: boolean,
  ): Promise<OcspResult> {
    const name = `${certificate.issuerName} ${issuer.name} ${certificate.serialNumber}`;
    const known = isFresh ? undefined : this.answers.get(name);
    if (known !== undefined && millisecondsSince(known.at, this.runtime.clock) < known.keptMs) {
      return Promise.resolve(known);
    }
    // A question that was sent earlier may have been answered before what asks for a fresh answer.
    const shared = isFresh ? undefined : this.running.get(name);
    const running =
      shared ??
      this.askAll(name, certificate, issuer, addresses).finally(() => this.running.delete(name));
    this.running.set(name, running);
    return running;
  }

  private async askAll(
    name: string,
    certificate: RevocationReference,
    issuer: IssuerKey,
    addresses: readonly string[],
  ): Promise<OcspResult> {
    let last: OcspResult = { status: 'unknown', reason: 'ocsp_no_responder' };
    for (const address of addresses) {
      // The time of the question: its answer may take long, and the process may be stopped meanwhile.
      const at = momentOf(this.runtime.clock);
      last = await this.askOne(address, certificate, issuer);
      if (last.status !== 'unknown') {
        const until = ('until' in last && last.until) || Infinity;
        const keptMs = Math.min(until - at.wallMs, this.mtls.crlFetchSeconds * 1000);
        this.answers.set(name, { ...last, at, keptMs });
        return last;
      }
    }
    return last;
  }

  private async askOne(
    address: string,
    { issuerName, serialNumber }: RevocationReference,
    { key }: IssuerKey,
  ): Promise<OcspResult> {
    const question = {
      issuerName: Buffer.from(issuerName, 'base64'),
      issuerKey: key,
      serialNumber,
      nonce: this.runtime.random.bytes(NONCE_BYTES),
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
        this.runtime.clock.now(),
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
      this.upstreams.get(origin) ?? new UpstreamHttp(this.runtime, this.connections, limits);
    this.upstreams.set(origin, upstream);
    return upstream;
  }
}
