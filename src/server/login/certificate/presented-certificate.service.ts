import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../common/runtime/clock.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import {
  forwardedText,
  type ForwardedFormat,
  type ForwardedRefusal,
} from '../../../core/policy/certificate/forwarded-certificate.js';
import { CertificateFilesService } from '../../providers/certificate/certificate-files.service.js';
import {
  CertificateHeadersService,
  forwardedFormat,
  readPlain,
} from './certificate-headers.service.js';
import { decodeCertificates } from '../../providers/certificate/decode-certificates.js';
import { VerifiedChains } from '../../providers/certificate/verified-chains.js';
import { clientFlaw, MAX_CHAIN, type ChainFlaw } from '../../../core/x509/certificate-chain.js';
import { recordOfForwarded, recordOfPath } from '../../../core/x509/certificate-reference.js';
import { parseCertificate, type ParsedCertificate } from '../../../core/x509/parse-certificate.js';
import { TlsListenerService } from './tls-listener.service.js';

type PresentedCertificate =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly reason: ForwardedRefusal | 'undecodable' | 'chain-too-long' | ChainFlaw;
    }
  | { readonly kind: 'certificate'; readonly record: CertificateRecord };

/** A client sends its certificate with every login, and parsing takes longest. */
const KNOWN_CERTIFICATES = 500;

@Injectable()
export class PresentedCertificateService {
  private readonly format: ForwardedFormat | null;
  private readonly parsed = new LRUCache<string, readonly ParsedCertificate[]>({
    max: KNOWN_CERTIFICATES,
  });

  private readonly chains = new WeakMap<TLSSocket, readonly ParsedCertificate[]>();
  private readonly verified = new VerifiedChains(KNOWN_CERTIFICATES);
  private readonly forwardedPaths = new VerifiedChains(KNOWN_CERTIFICATES);

  constructor(
    private readonly headers: CertificateHeadersService,
    private readonly listener: TlsListenerService,
    private readonly files: CertificateFilesService,
    private readonly clock: Clock,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {
    this.format = forwardedFormat(mtls);
  }

  of(request: IncomingMessage): PresentedCertificate {
    return this.mtls.mode === 'direct' ? this.ofSocket(request) : this.ofProxy(request);
  }

  private ofSocket(request: IncomingMessage): PresentedCertificate {
    const socket = this.listener.socketOf(request);
    if (socket === null) {
      return { kind: 'absent' };
    }
    const chain = this.chains.get(socket) ?? chainOf(socket);
    if (chain === null) {
      return { kind: 'refused', reason: 'undecodable' };
    }
    // Node releases the chain of a connection after the first answer, so it is cached.
    this.chains.set(socket, chain);
    // The handshake checked less, and against files that may have been replaced since.
    return this.judge(chain, true);
  }

  private ofProxy(request: IncomingMessage): PresentedCertificate {
    const headers = this.headers.of(request);
    if (headers === null) {
      return { kind: 'absent' };
    }
    if (this.format === null) {
      const plain = readPlain(headers, this.mtls.forwardedHeaders);
      return plain.kind === 'facts'
        ? { kind: 'certificate', record: { facts: plain.facts, reference: null } }
        : plain;
    }
    const found = forwardedText(headers, this.format);
    return found.kind === 'certificate' ? this.read(this.format, found.text, found.chain) : found;
  }

  private read(format: ForwardedFormat, text: string, chain: string | null): PresentedCertificate {
    const key = chain === null ? text : `${text}\n${chain}`;
    let certificates = this.parsed.get(key) ?? null;
    if (certificates === null) {
      const { xfccElement } = this.mtls;
      const encoded = decodeCertificates(format.decoder, { text, chain, xfccElement });
      certificates = encoded && allParsed(encoded);
      if (certificates === null) {
        return { kind: 'refused', reason: 'undecodable' };
      }
      if (certificates.length > MAX_CHAIN) {
        return { kind: 'refused', reason: 'chain-too-long' };
      }
      this.parsed.set(key, certificates);
    }
    return this.judge(certificates, format.isUnverified);
  }

  private judge(chain: readonly ParsedCertificate[], isUnverified: boolean): PresentedCertificate {
    const [leaf] = chain;
    if (leaf === undefined) {
      return { kind: 'absent' };
    }
    if (!isUnverified) {
      const flaw = clientFlaw(leaf);
      return flaw === null
        ? { kind: 'certificate', record: this.forwarded(chain, leaf) }
        : { kind: 'refused', reason: flaw };
    }
    const { trust } = this.files.current();
    const path = this.verified.pathOf(chain, trust, this.clock.now());
    return typeof path === 'string'
      ? { kind: 'refused', reason: path }
      : { kind: 'certificate', record: recordOfPath(path) };
  }

  /** Proxies forward authorities as the client sent them: they count with a path to a known one. */
  private forwarded(
    chain: readonly ParsedCertificate[],
    leaf: ParsedCertificate,
  ): CertificateRecord {
    const { pathTrust } = this.files.current();
    const path = this.forwardedPaths.pathOf(chain, pathTrust, this.clock.now());
    const known = typeof path === 'string' ? null : path;
    return recordOfForwarded(leaf, known, pathTrust?.anchors ?? []);
  }
}

function chainOf(socket: TLSSocket): readonly ParsedCertificate[] | null {
  const encoded: Buffer[] = [];
  let next: X509Certificate | undefined = socket.getPeerX509Certificate();
  while (next !== undefined && encoded.length <= MAX_CHAIN) {
    encoded.push(next.raw);
    const issuer: X509Certificate | undefined = next.issuerCertificate;
    // A root is its own issuer.
    next = issuer?.fingerprint256 === next.fingerprint256 ? undefined : issuer;
  }
  return allParsed(encoded);
}

function allParsed(encoded: readonly Buffer[]): readonly ParsedCertificate[] | null {
  const certificates = encoded.map(parseCertificate).filter((one) => one !== null);
  return certificates.length === encoded.length ? certificates : null;
}
