import type { MtlsSettings } from '../../config/settings.js';
import {
  commonNamesOf,
  COMMON_NAME,
  parseDistinguishedName,
  type DistinguishedName,
} from '../../policy/client-certificate-name.js';
import type { CertificateFacts } from '../../policy/client-certificate.js';
import {
  FORWARDED_FORMATS,
  oneHeader,
  type ForwardedFormat,
  type ForwardedHeader,
} from '../../policy/forwarded-certificate.js';

/** The format of the active preset; null for `plain`, which forwards no certificate. */
export function forwardedFormat(mtls: MtlsSettings): ForwardedFormat | null {
  const { forwardedPreset, custom, verifyForwarded } = mtls;
  if (forwardedPreset === 'plain') {
    return null;
  }
  const fixed =
    forwardedPreset === 'custom' ? customFormat(custom) : FORWARDED_FORMATS[forwardedPreset];
  return { ...fixed, isUnverified: fixed.isUnverified || verifyForwarded };
}

/** Every header that the operator named, whatever preset is active. */
export function customHeaderNames({ custom, forwardedHeaders }: MtlsSettings): string[] {
  return [
    ...Object.values(forwardedHeaders),
    ...(custom.certificateHeader === null ? [] : [custom.certificateHeader]),
    ...(custom.verifyHeader === null ? [] : [custom.verifyHeader]),
  ];
}

function customFormat(custom: MtlsSettings['custom']): ForwardedFormat {
  const { certificateHeader, decoder, verifyHeader, verifyValue } = custom;
  return {
    certificate: certificateHeader ?? '',
    chain:
      decoder === 'rfc9440' && certificateHeader !== null ? `${certificateHeader}-chain` : null,
    decoder,
    verified: verifyHeader === null ? null : { header: verifyHeader, value: verifyValue },
    isUnverified: false,
  };
}

export type PlainReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: 'header-twice' | 'undecodable' }
  | { readonly kind: 'facts'; readonly facts: CertificateFacts };

/** What a proxy says of a certificate that it keeps to itself (preset `plain`). */
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

/** Node hands header bytes out as Latin-1, and proxies write UTF-8. */
function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

function listed(value: string | null): string[] {
  return value === null ? [] : [utf8(value)];
}

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
