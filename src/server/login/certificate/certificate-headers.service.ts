import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { AuditService } from '../../audit/audit.service.js';
import { trustOf } from '../../network/trusted-proxies.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import {
  commonNamesOf,
  COMMON_NAME,
  parseDistinguishedName,
  type DistinguishedName,
  type CertificateFacts,
} from '../../../core/policy/certificate/client-certificate.js';
import {
  canonicalHeader,
  certificateHeader,
  FORWARDED_FORMATS,
  oneHeader,
  type ForwardedFormat,
  type ForwardedHeader,
} from '../../../core/policy/certificate/forwarded-certificate.js';

const MAX_KNOWN_NAMES = 1000;

type ClaimedName = Pick<ForwardedHeader, 'name' | 'canonical'>;

/**
 * Removes every header about a client certificate before a handler reads it. Those of a trusted
 * proxy are kept for the login; others are counted in the audit log.
 */
@Injectable()
export class CertificateHeadersService implements OnModuleInit {
  private readonly kept = new WeakMap<IncomingMessage, readonly ForwardedHeader[]>();
  private readonly own: ReadonlySet<string>;
  private readonly isProxy: (address: string, hop: number) => boolean;
  /** Clients send the same few header names. */
  private readonly knownNames = new Map<string, ClaimedName | null>();

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly audit: AuditService,
    @Inject(mtlsConfig.KEY) mtls: MtlsSettings,
  ) {
    const trusts = mtls.enabled && mtls.mode === 'forwarded' && mtls.trustForwardedHeaders;
    this.isProxy = trustOf(trusts ? mtls.trustedProxies : []);
    this.own = new Set(customHeaderNames(mtls).map(canonicalHeader));
  }

  /** Fastify applies the hook to every route: it collects hooks when the server becomes ready. */
  onModuleInit(): void {
    const server = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onRequest', (request, _reply, done) => {
      this.take(request.raw);
      done();
    });
  }

  /** @returns null when the request does not come from a trusted proxy */
  of(request: IncomingMessage): readonly ForwardedHeader[] | null {
    return this.isFromProxy(request) ? (this.kept.get(request) ?? []) : null;
  }

  private take(request: IncomingMessage): void {
    const isClaimed = (name: string, index: number) =>
      index % 2 === 0 && this.claimedName(name) !== null;
    if (!request.rawHeaders.some(isClaimed)) {
      return;
    }
    const claims = this.strip(request);
    if (this.isFromProxy(request)) {
      this.kept.set(request, claims);
    } else {
      this.audit.refuse('mtls', 'untrusted-proxy');
    }
  }

  /** Compacts the remaining headers in place, and returns the removed ones. */
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

/** @returns null for `plain`, which forwards no certificate */
export function forwardedFormat(mtls: MtlsSettings): ForwardedFormat | null {
  const { forwardedPreset: preset, custom, verifyForwarded } = mtls;
  if (preset === 'plain') {
    return null;
  }
  const fixed = preset === 'custom' ? customFormat(custom) : FORWARDED_FORMATS[preset];
  return { ...fixed, isUnverified: fixed.isUnverified || verifyForwarded };
}

/** Every header that the operator configured, whatever preset is active. */
function customHeaderNames({ custom, forwardedHeaders }: MtlsSettings): string[] {
  const names = [...Object.values(forwardedHeaders), custom.certificateHeader, custom.verifyHeader];
  return names.filter((name) => name !== null);
}

function customFormat(custom: MtlsSettings['custom']): ForwardedFormat {
  const { certificateHeader: header, decoder, verifyHeader, verifyValue } = custom;
  return {
    certificate: header ?? '',
    chain: decoder === 'rfc9440' && header !== null ? `${header}-chain` : null,
    decoder,
    verified: verifyHeader === null ? null : { header: verifyHeader, value: verifyValue },
    isUnverified: false,
  };
}

type PlainReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: 'header-twice' | 'undecodable' }
  | { readonly kind: 'facts'; readonly facts: CertificateFacts };

/** The headers of a proxy that does not forward the certificate itself (preset `plain`). */
export function readPlain(
  headers: readonly ForwardedHeader[],
  names: MtlsSettings['forwardedHeaders'],
): PlainReading {
  const read = (name: string) => oneHeader(headers, name);
  const found = {
    email: read(names.email),
    upn: read(names.upn),
    subject: read(names.subject),
    fingerprint: read(names.fingerprint),
    issuer: read(names.issuer),
  };
  const all = Object.values(found);
  if (all.some(({ isTwice }) => isTwice)) {
    return { kind: 'refused', reason: 'header-twice' };
  }
  if (all.every(({ value }) => value === null)) {
    return { kind: 'absent' };
  }
  const subject = nameFrom(found.subject.value);
  const issuer = nameFrom(found.issuer.value);
  if (subject === 'unreadable' || issuer === 'unreadable') {
    return { kind: 'refused', reason: 'undecodable' };
  }
  return {
    kind: 'facts',
    facts: {
      emails: listed(found.email.value),
      upns: listed(found.upn.value),
      commonNames: subject === null ? [] : commonNamesOf(subject),
      fingerprint: found.fingerprint.value?.replaceAll(':', '').toLowerCase() ?? null,
      issuer,
      validity: null,
      usages: null,
    },
  };
}

/** Node decodes header bytes as Latin-1, and proxies write UTF-8. */
const utf8 = (value: string): string => Buffer.from(value, 'latin1').toString('utf8');

const listed = (value: string | null): string[] => (value === null ? [] : [utf8(value)]);

/** A full name in the form of RFC 4514, or a common name alone. */
function nameFrom(value: string | null): DistinguishedName | null | 'unreadable' {
  if (value === null) {
    return null;
  }
  const text = utf8(value);
  return text.includes('=')
    ? (parseDistinguishedName(text) ?? 'unreadable')
    : [[{ type: COMMON_NAME, value: text }]];
}
