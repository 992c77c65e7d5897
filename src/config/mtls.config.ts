import { registerAs } from '@nestjs/config';
import { unresolved, type Checked, type Variable } from './environment/variable.js';
import type { Values } from './environment/env.js';
import { hostsAccountPage, withoutTrailingSlash } from './http.config.js';
import type { CertificateRules } from '../policy/certificate/client-certificate.js';
import type { MtlsRules } from '../policy/operator-policy.js';

export type MtlsForwardedPreset =
  | 'plain'
  | 'ingress-nginx'
  | 'envoy'
  | 'traefik'
  | 'haproxy'
  | 'aws-alb-verify'
  | 'aws-alb-passthrough'
  | 'rfc9440'
  | 'custom';

export interface MtlsSettings extends MtlsRules, CertificateRules {
  readonly forwardedPreset: MtlsForwardedPreset;
  readonly forwardedHeaders: {
    readonly email: string;
    readonly upn: string;
    readonly subject: string;
    readonly fingerprint: string;
    readonly issuer: string;
  };
  /** Whether this server verifies what a proxy forwards, too. */
  readonly verifyForwarded: boolean;
  readonly xfccElement: 'only' | 'first';
  readonly custom: {
    readonly certificateHeader: string | null;
    readonly decoder: 'url-pem' | 'base64-der' | 'rfc9440' | 'xfcc' | 'pem-spaces';
    readonly verifyHeader: string | null;
    readonly verifyValue: string;
  };
  /** Where browsers are asked for certificates, without a trailing slash; null = where they are. */
  readonly publicUrl: string | null;
  readonly returnToAllowPrefixes: readonly string[];
  readonly claimTtlSeconds: number;
  readonly tlsPort: number | null;
  readonly tlsCertPath: string | null;
  readonly tlsKeyPath: string | null;
  readonly caPath: string | null;
  readonly crlPath: string | null;
}

const HEADER_NAME = {
  group: 'Client certificates (mTLS)',
  type: 'string',
  pattern: /^[\w!#$%&'*+.^`|~-]+$/,
  shape: 'a header name',
} as const;

/** Login with a client certificate, verified by a proxy (forwarded) or by this server (direct). */
export const MTLS_VARIABLES = {
  SERVICE_FEATURE_AUTH_MTLS__ENABLED: {
    group: 'Client certificates (mTLS)',
    type: 'boolean',
    default: false,
    doc: 'Offers keyless login with a client certificate.',
  },
  SERVICE_FEATURE_AUTH_MTLS__MODE: {
    group: 'Client certificates (mTLS)',
    type: 'enum',
    default: 'forwarded',
    values: ['forwarded', 'direct'],
    doc: 'Whether a reverse proxy verifies the certificate, or this server on a port of its own.',
  },
  SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION: {
    group: 'Client certificates (mTLS)',
    type: 'boolean',
    default: false,
    doc: 'Creates a keyless account at the first login with a certificate.',
  },
  SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE: {
    group: 'Client certificates (mTLS)',
    type: 'enum',
    default: 'san_email',
    values: ['san_email', 'san_upn', 'subject_cn', 'fingerprint'],
    doc: 'The part of the certificate that names the account.',
  },
  SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS: {
    group: 'Client certificates (mTLS)',
    type: 'csv',
    default: [],
    lowerCase: true,
    pattern: /^[^\s@,]+$/,
    shape: 'a domain without @',
    doc: 'Domains an e-mail or UPN identity may have. Empty = any.',
  },
  SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS: {
    group: 'Client certificates (mTLS)',
    type: 'csv',
    default: [],
    doc: 'Issuers as common name or full DN; put a DN in double quotes, as it has commas. Empty = any that is verified.',
  },
  SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS: {
    group: 'Client certificates (mTLS)',
    type: 'boolean',
    default: false,
    doc: 'Believes the identity headers of the trusted proxies (mode forwarded).',
  },
  SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES: {
    group: 'Client certificates (mTLS)',
    type: 'cidrs',
    default: [],
    doc: 'Peers whose identity headers are trusted; from any other they are stripped. Empty = none.',
  },
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET: {
    group: 'Client certificates (mTLS)',
    type: 'enum',
    default: 'plain',
    values: [
      'plain',
      'ingress-nginx',
      'envoy',
      'traefik',
      'haproxy',
      'aws-alb-verify',
      'aws-alb-passthrough',
      'rfc9440',
      'custom',
    ],
    doc: 'Format in which the proxy forwards the certificate. Exactly one is active.',
  },
  SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED: {
    group: 'Client certificates (mTLS)',
    type: 'boolean',
    default: false,
    doc: 'Verifies forwarded certificates against CA_PATH (and CRL_PATH) once more. Always so with aws-alb-passthrough.',
  },
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_XFCC_ELEMENT: {
    group: 'Client certificates (mTLS)',
    type: 'enum',
    default: 'only',
    values: ['only', 'first'],
    doc: 'Preset envoy: whether a header with several elements is refused, or its first element counts.',
  },
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER: {
    ...HEADER_NAME,
    default: null,
    doc: 'Preset custom: header with the certificate.',
  },
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_DECODER: {
    group: 'Client certificates (mTLS)',
    type: 'enum',
    default: 'url-pem',
    values: ['url-pem', 'base64-der', 'rfc9440', 'xfcc', 'pem-spaces'],
    doc: 'Preset custom: how the certificate is written.',
  },
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_HEADER: {
    ...HEADER_NAME,
    default: null,
    doc: "Preset custom: header with the proxy's verdict. Empty = the proxy forwards only what it verified.",
  },
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_VALUE: {
    group: 'Client certificates (mTLS)',
    type: 'string',
    default: 'SUCCESS',
    doc: 'Preset custom: the one verdict that means verified.',
  },
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_EMAIL_HEADER: {
    ...HEADER_NAME,
    default: 'x-service-client-cert-email',
    doc: 'Header with the SAN e-mail.',
  },
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_UPN_HEADER: {
    ...HEADER_NAME,
    default: 'x-service-client-cert-upn',
    doc: 'Header with the SAN UPN.',
  },
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_SUBJECT_HEADER: {
    ...HEADER_NAME,
    default: 'x-service-client-cert-subject',
    doc: 'Header with the subject.',
  },
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_FINGERPRINT_HEADER: {
    ...HEADER_NAME,
    default: 'x-service-client-cert-sha256',
    doc: 'Header with the SHA-256 fingerprint.',
  },
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_ISSUER_HEADER: {
    ...HEADER_NAME,
    default: 'x-service-client-cert-issuer',
    doc: 'Header with the issuer.',
  },
  SERVICE_FEATURE_AUTH_MTLS__PUBLIC_URL: {
    group: 'Client certificates (mTLS)',
    type: 'url',
    default: null,
    schemes: ['https', 'http'],
    doc: 'Address at which browsers are asked for certificates, where that is another than the one they begin at.',
  },
  SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES: {
    group: 'Client certificates (mTLS)',
    type: 'csv',
    default: [],
    pattern: /^[a-z][a-z0-9+.-]*:\/\/\S*$/i,
    shape: 'an address such as https://app.example.com/login or myapp://auth',
    doc: 'Addresses to which the browser flow may return, compared by origin and path. Where this server hosts the account page at SERVICE_PUBLIC_URL, that is always one.',
  },
  SERVICE_FEATURE_AUTH_MTLS__CLAIM_TTL_SECONDS: {
    group: 'Client certificates (mTLS)',
    type: 'integer',
    default: 60,
    min: 10,
    max: 600,
    doc: 'Lifetime of the single-use code of the browser flow.',
  },
  SERVICE_FEATURE_AUTH_MTLS__TLS_PORT: {
    group: 'Client certificates (mTLS)',
    type: 'integer',
    default: null,
    min: 0,
    max: 65_535,
    doc: 'Port on which this server asks for certificates (mode direct).',
  },
  SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH: {
    group: 'Client certificates (mTLS)',
    type: 'path',
    default: null,
    doc: 'PEM file with the certificate chain of this server (mode direct).',
  },
  SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH: {
    group: 'Client certificates (mTLS)',
    type: 'path',
    default: null,
    doc: 'PEM file with the key of this server (mode direct).',
  },
  SERVICE_FEATURE_AUTH_MTLS__CA_PATH: {
    group: 'Client certificates (mTLS)',
    type: 'path',
    default: null,
    doc: 'PEM bundle of the authorities that issue client certificates (mode direct, and pass-through presets).',
  },
  SERVICE_FEATURE_AUTH_MTLS__CRL_PATH: {
    group: 'Client certificates (mTLS)',
    type: 'path',
    default: null,
    doc: 'PEM file with revoked certificates. Empty = no revocation list.',
  },
} as const satisfies Record<string, Variable>;

export const mtlsConfig = registerAs(
  'mtls',
  ({ values }: Checked = unresolved('mtls')): MtlsSettings => ({
    enabled: values.SERVICE_FEATURE_AUTH_MTLS__ENABLED,
    mode: values.SERVICE_FEATURE_AUTH_MTLS__MODE,
    autoProvision: values.SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION,
    identitySource: values.SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE,
    allowedEmailDomains: values.SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS,
    allowedIssuers: values.SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS,
    trustForwardedHeaders: values.SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS,
    trustedProxies: values.SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES,
    forwardedPreset: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET,
    forwardedHeaders: {
      email: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_EMAIL_HEADER.toLowerCase(),
      upn: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_UPN_HEADER.toLowerCase(),
      subject: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_SUBJECT_HEADER.toLowerCase(),
      fingerprint: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_FINGERPRINT_HEADER.toLowerCase(),
      issuer: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_ISSUER_HEADER.toLowerCase(),
    },
    verifyForwarded: values.SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED,
    xfccElement: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_XFCC_ELEMENT,
    custom: {
      certificateHeader: lowerCase(values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER),
      decoder: values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_DECODER,
      verifyHeader: lowerCase(values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_HEADER),
      verifyValue: values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_VALUE,
    },
    publicUrl: values.SERVICE_FEATURE_AUTH_MTLS__PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    returnToAllowPrefixes: returnToPrefixes(values),
    claimTtlSeconds: values.SERVICE_FEATURE_AUTH_MTLS__CLAIM_TTL_SECONDS,
    tlsPort: values.SERVICE_FEATURE_AUTH_MTLS__TLS_PORT,
    tlsCertPath: values.SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH,
    tlsKeyPath: values.SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH,
    caPath: values.SERVICE_FEATURE_AUTH_MTLS__CA_PATH,
    crlPath: values.SERVICE_FEATURE_AUTH_MTLS__CRL_PATH,
  }),
);

/** With the account page where this server hosts it: a code that comes there stays here. */
function returnToPrefixes(values: Values): readonly string[] {
  const prefixes = values.SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES;
  const publicUrl = withoutTrailingSlash(values.SERVICE_PUBLIC_URL);
  return publicUrl !== null && hostsAccountPage(values)
    ? [...prefixes, `${publicUrl}/app`]
    : prefixes;
}

function lowerCase(name: string | null): string | null {
  return name?.toLowerCase() ?? null;
}
