export type CertificateDecoder = 'url-pem' | 'base64-der' | 'rfc9440' | 'xfcc' | 'pem-spaces';

/** How one kind of proxy forwards the certificate of its client. */
export interface ForwardedFormat {
  /** Header with the certificate, in lower case. */
  readonly certificate: string;
  /** Header with the certificates above it; null = none, or in the same header. */
  readonly chain: string | null;
  readonly decoder: CertificateDecoder;
  /** Header that must have exactly this value; null = the proxy lets nothing unverified pass. */
  readonly verified: { readonly header: string; readonly value: string } | null;
  /** Whether the proxy verified nothing, so that this server has to. */
  readonly isUnverified: boolean;
}

export type FixedPreset =
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

/** What each preset stands for. Exactly one is active, and none is ever guessed. */
export const FORWARDED_FORMATS: Readonly<Record<FixedPreset, ForwardedFormat>> = {
  'ingress-nginx': format('ssl-client-cert', 'url-pem', {
    verified: { header: 'ssl-client-verify', value: 'SUCCESS' },
  }),
  envoy: format('x-forwarded-client-cert', 'xfcc'),
  traefik: format('x-forwarded-tls-client-cert', 'base64-der'),
  // 0 is also what HAProxy says of no certificate at all: the certificate has to be there too.
  haproxy: format('x-ssl-client-cert', 'base64-der', {
    verified: { header: 'x-ssl-client-verify', value: '0' },
  }),
  'aws-alb-verify': format('x-amzn-mtls-clientcert-leaf', 'url-pem'),
  'aws-alb-passthrough': format('x-amzn-mtls-clientcert', 'url-pem', { isUnverified: true }),
  rfc9440: format('client-cert', 'rfc9440', { chain: 'client-cert-chain' }),
};

/** Beginnings of the names under which any proxy we know forwards something of a certificate. */
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

/** One spelling for all that proxies and gateways take for the same name. */
export function canonicalHeader(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/**
 * The canonical name of a header that, in any spelling, may claim something of a client
 * certificate; null for every other header.
 *
 * @param own canonical names that this configuration reads beside the known ones
 */
export function certificateHeader(name: string, own: ReadonlySet<string>): string | null {
  const canonical = canonicalHeader(name);
  const isClaim = own.has(canonical) || FAMILIES.some((family) => canonical.startsWith(family));
  return isClaim ? canonical : null;
}

/** A header that claims something of a client certificate. */
export interface ForwardedHeader {
  /** As it was sent, in lower case. */
  readonly name: string;
  readonly canonical: string;
  readonly value: string;
}

/** One value, none, or several: then it is unknown which one the proxy wrote. */
export type OneHeader = { readonly value: string | null; readonly isTwice: boolean };

/** Reads one header of those the proxy sent: another spelling of the name is not it, but counts. */
export function oneHeader(headers: readonly ForwardedHeader[], name: string): OneHeader {
  const wanted = canonicalHeader(name);
  const alike = headers.filter(({ canonical }) => canonical === wanted);
  const value = alike.find((sent) => sent.name === name)?.value.trim() ?? null;
  return {
    value: value === null || isPlaceholder(value) ? null : value,
    isTwice: alike.length > 1,
  };
}

/** What proxies write where there is nothing: Apache `(null)`, Caddy the name in braces. */
function isPlaceholder(value: string): boolean {
  return value === '' || value === '(null)' || value === 'NONE' || /^\{.*\}$/.test(value);
}

export type ForwardedRefusal = 'header-twice' | 'not-verified';

export type ForwardedText =
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: ForwardedRefusal }
  | { readonly kind: 'certificate'; readonly text: string; readonly chain: string | null };

/** The encoded certificate that a believed proxy vouches for (duplicates, placeholders, verdict). */
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
