export type CertificateDecoder = 'url-pem' | 'base64-der' | 'rfc9440' | 'xfcc' | 'pem-spaces';

export interface ForwardedFormat {
  /** In lower case. */
  readonly certificate: string;
  /** Header with the issuing certificates; null = none, or in the same header. */
  readonly chain: string | null;
  readonly decoder: CertificateDecoder;
  /** The header must have exactly this value; null = the proxy forwards only verified ones. */
  readonly verified: { readonly header: string; readonly value: string } | null;
  /** True if the proxy verifies nothing. */
  readonly isUnverified: boolean;
}

type FixedPreset =
  | 'ingress-nginx'
  | 'envoy'
  | 'traefik'
  | 'haproxy'
  | 'aws-alb-verify'
  | 'aws-alb-passthrough'
  | 'rfc9440';

const format = (
  certificate: string,
  decoder: CertificateDecoder,
  more: Partial<ForwardedFormat> = {},
): ForwardedFormat => ({
  certificate,
  decoder,
  chain: null,
  verified: null,
  isUnverified: false,
  ...more,
});

/** Exactly one format is active, and none is ever guessed. */
export const FORWARDED_FORMATS: Readonly<Record<FixedPreset, ForwardedFormat>> = {
  'ingress-nginx': format('ssl-client-cert', 'url-pem', {
    verified: { header: 'ssl-client-verify', value: 'SUCCESS' },
  }),
  envoy: format('x-forwarded-client-cert', 'xfcc'),
  traefik: format('x-forwarded-tls-client-cert', 'base64-der'),
  // HAProxy also sends 0 without a certificate, so the certificate must be present.
  haproxy: format('x-ssl-client-cert', 'base64-der', {
    verified: { header: 'x-ssl-client-verify', value: '0' },
  }),
  'aws-alb-verify': format('x-amzn-mtls-clientcert-leaf', 'url-pem'),
  'aws-alb-passthrough': format('x-amzn-mtls-clientcert', 'url-pem', { isUnverified: true }),
  rfc9440: format('client-cert', 'rfc9440', { chain: 'client-cert-chain' }),
};

/** Prefixes of headers with which known proxies forward parts of a certificate. */
const FAMILIES = [
  'client-cert',
  'ssl-client-',
  'x-amzn-mtls-',
  'x-arr-clientcert',
  'x-client-cert',
  'x-forwarded-client-cert',
  'x-forwarded-tls-client-cert',
  'x-service-client-cert',
  'x-ssl-',
  'cf-client-cert-',
];

/** Returns one spelling for all names that proxies and gateways treat as equal. */
export function canonicalHeader(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/**
 * Returns the canonical name of a header that may claim something of a certificate, else null.
 * @param own canonical names that this configuration reads in addition to the known ones
 */
export function certificateHeader(name: string, own: ReadonlySet<string>): string | null {
  const canonical = canonicalHeader(name);
  const isClaim = own.has(canonical) || FAMILIES.some((family) => canonical.startsWith(family));
  return isClaim ? canonical : null;
}

export interface ForwardedHeader {
  /** The name as it was sent, in lower case. */
  readonly name: string;
  readonly canonical: string;
  readonly value: string;
}

/** If a header is sent twice, the value of the proxy is unknown. */
type OneHeader = { readonly value: string | null; readonly isTwice: boolean };

/** Other spellings of the name are ignored as a value, but count as duplicates. */
export function oneHeader(headers: readonly ForwardedHeader[], name: string): OneHeader {
  const wanted = canonicalHeader(name);
  const alike = headers.filter(({ canonical }) => canonical === wanted);
  const value = alike.find((sent) => sent.name === name)?.value.trim() ?? null;
  return {
    value: value === null || isPlaceholder(value) ? null : value,
    isTwice: alike.length > 1,
  };
}

/** Placeholders of proxies for an absent value: Apache `(null)`, Caddy the name in braces. */
function isPlaceholder(value: string): boolean {
  return value === '' || value === '(null)' || value === 'NONE' || /^\{.*\}$/.test(value);
}

export type ForwardedRefusal = 'header-twice' | 'not-verified';

type ForwardedText =
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: ForwardedRefusal }
  | { readonly kind: 'certificate'; readonly text: string; readonly chain: string | null };

/** Checks duplicates, placeholders and the verification result. */
export function forwardedText(
  headers: readonly ForwardedHeader[],
  { certificate, chain, verified }: ForwardedFormat,
): ForwardedText {
  const read = (name: string | null): OneHeader =>
    name === null ? { value: null, isTwice: false } : oneHeader(headers, name);
  const found = {
    certificate: read(certificate),
    chain: read(chain),
    verdict: read(verified?.header ?? null),
  };
  if (Object.values(found).some(({ isTwice }) => isTwice)) {
    return { kind: 'refused', reason: 'header-twice' };
  }
  if (found.certificate.value === null) {
    return { kind: 'absent' };
  }
  if (verified !== null && found.verdict.value !== verified.value) {
    return { kind: 'refused', reason: 'not-verified' };
  }
  return { kind: 'certificate', text: found.certificate.value, chain: found.chain.value };
}
