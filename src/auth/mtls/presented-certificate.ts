import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/clock.js';
import { SETTINGS, type MtlsSettings, type Settings } from '../../config/settings.js';
import type { CertificateFacts } from '../../policy/client-certificate.js';
import {
  forwardedText,
  type ForwardedFormat,
  type ForwardedRefusal,
} from '../../policy/forwarded-certificate.js';
import { MAX_CHAIN, type ChainFlaw } from './certificate-chain.js';
import { CertificateFiles } from './certificate-files.js';
import { clientFlaw } from './certificate-flaws.js';
import { CertificateHeaders } from './certificate-headers.js';
import { decodeCertificates } from './decoders/decode-certificates.js';
import { forwardedFormat, readPlain } from './forwarded-format.js';
import { parseCertificate, type ParsedCertificate } from './parse-certificate.js';
import { TlsListener } from './tls-listener.js';
import { VerifiedChains } from './verified-chains.js';

export type Presented =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly reason: ForwardedRefusal | 'undecodable' | 'chain-too-long' | ChainFlaw;
    }
  | { readonly kind: 'facts'; readonly facts: CertificateFacts };

const ABSENT: Presented = { kind: 'absent' };
/** Certificates come with every login of their holder, and reading one takes longer than the rest. */
const KNOWN_CERTIFICATES = 500;

/** The certificate behind a request: of the socket in mode direct, of a believed proxy otherwise. */
@Injectable()
export class PresentedCertificates {
  private readonly mtls: MtlsSettings;
  private readonly format: ForwardedFormat | null;
  private readonly parsed = new LRUCache<string, readonly ParsedCertificate[]>({
    max: KNOWN_CERTIFICATES,
  });

  private readonly chains = new WeakMap<TLSSocket, readonly ParsedCertificate[]>();
  private readonly verified = new VerifiedChains(KNOWN_CERTIFICATES);

  constructor(
    private readonly headers: CertificateHeaders,
    private readonly listener: TlsListener,
    private readonly files: CertificateFiles,
    private readonly clock: Clock,
    @Inject(SETTINGS) { mtls }: Settings,
  ) {
    this.mtls = mtls;
    this.format = forwardedFormat(mtls);
  }

  of(request: IncomingMessage): Presented {
    return this.mtls.mode === 'direct' ? this.ofSocket(request) : this.ofProxy(request);
  }

  private ofSocket(request: IncomingMessage): Presented {
    const socket = this.listener.socketOf(request);
    if (socket === null) {
      return ABSENT;
    }
    const chain = this.chainOf(socket);
    return chain === null
      ? { kind: 'refused', reason: 'undecodable' }
      : // The handshake checked less, and against files that may have been replaced since.
        this.judge(chain, true);
  }

  /** Node gives the chain of a connection away with the first answer, so that is kept. */
  private chainOf(socket: TLSSocket): readonly ParsedCertificate[] | null {
    const chain = this.chains.get(socket) ?? chainOf(socket);
    if (chain !== null) {
      this.chains.set(socket, chain);
    }
    return chain;
  }

  private ofProxy(request: IncomingMessage): Presented {
    const headers = this.headers.of(request);
    if (headers === null) {
      return ABSENT;
    }
    if (this.format === null) {
      return readPlain(headers, this.mtls.forwardedHeaders);
    }
    const found = forwardedText(headers, this.format);
    return found.kind === 'certificate' ? this.read(this.format, found.text, found.chain) : found;
  }

  private read(format: ForwardedFormat, text: string, chain: string | null): Presented {
    const key = chain === null ? text : `${text}\n${chain}`;
    const known = this.parsed.get(key);
    const certificates = known ?? this.decode(format, text, chain);
    if (certificates === null) {
      return { kind: 'refused', reason: 'undecodable' };
    }
    if (certificates.length > MAX_CHAIN) {
      return { kind: 'refused', reason: 'chain-too-long' };
    }
    if (known === undefined) {
      this.parsed.set(key, certificates);
    }
    return this.judge(certificates, format.isUnverified);
  }

  private decode(
    format: ForwardedFormat,
    text: string,
    chain: string | null,
  ): readonly ParsedCertificate[] | null {
    const { xfccElement } = this.mtls;
    const encoded = decodeCertificates(format.decoder, { text, chain, xfccElement });
    return encoded === null ? null : allParsed(encoded);
  }

  private judge(chain: readonly ParsedCertificate[], isUnverified: boolean): Presented {
    const [leaf] = chain;
    if (leaf === undefined) {
      return ABSENT;
    }
    const flaw = isUnverified
      ? this.verified.flawOf(chain, this.files.current().trust, this.clock.now())
      : clientFlaw(leaf);
    return flaw === null ? { kind: 'facts', facts: leaf.facts } : { kind: 'refused', reason: flaw };
  }
}

function chainOf(socket: TLSSocket): readonly ParsedCertificate[] | null {
  const encoded: Buffer[] = [];
  let next: X509Certificate | undefined = socket.getPeerX509Certificate();
  while (next !== undefined && encoded.length <= MAX_CHAIN) {
    encoded.push(next.raw);
    // A root is its own issuer.
    next =
      next.issuerCertificate?.fingerprint256 === next.fingerprint256
        ? undefined
        : next.issuerCertificate;
  }
  return allParsed(encoded);
}

function allParsed(encoded: readonly Buffer[]): readonly ParsedCertificate[] | null {
  const certificates = encoded.map(parseCertificate).filter((one) => one !== null);
  return certificates.length === encoded.length ? certificates : null;
}
