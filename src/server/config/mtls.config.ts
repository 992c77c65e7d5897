import { namespaceOf, PLAIN_ADDRESS, variablesOf, type ValuesOf } from './environment/variable.js';
import { hostsAccountPage, withoutTrailingSlash, type AccountPageValues } from './http.config.js';
import type { CertificateAllowRules } from './rules/certificate-rules.js';
import type { TlsFileSet } from './tls/tls-files.js';

const HEADER_NAME = {
  type: 'string',
  pattern: /^[\w!#$%&'*+.^`|~-]+$/,
  shape: 'a header name',
} as const;

const mtls = variablesOf('Client certificates (mTLS)');

export const MTLS_VARIABLES = {
  SERVICE_FEATURE_AUTH_MTLS__ENABLED: mtls.offByDefault(
    'Offers keyless login with a client certificate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__MODE: mtls(
    { type: 'enum', default: 'forwarded', values: ['forwarded', 'direct'] },
    'Verifier of the certificate: a reverse proxy, or this server on its own TLS port.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION: mtls.offByDefault(
    'Creates a keyless account at the first login with a certificate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE: mtls(
    {
      type: 'enum',
      default: 'san_email',
      values: ['san_email', 'san_upn', 'subject_cn', 'fingerprint'],
    },
    'Part of the certificate that identifies the account.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS: mtls(
    {
      type: 'csv',
      default: [],
      lowerCase: true,
      pattern: /^[^\s@,*]+$/,
      shape: 'a domain without @ or *',
    },
    'Domains an e-mail or UPN identity may have. Empty = any.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS: mtls.list(
    'Allowed issuers, as common name or full DN. Put a DN in double quotes. Empty = any verified issuer.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__RULES_PATH: mtls.path(
    'JSON file with `allowedIssuers` and `allowedEmailDomains`, in place of these two variables. A change applies without a restart.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS: mtls.offByDefault(
    'Believes the identity headers of the trusted proxies (mode forwarded).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES: mtls.addresses(
    'Peers whose identity headers are trusted. Those of other peers are removed. Empty = none.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET: mtls(
    {
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
    },
    'Format of the forwarded certificate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED: mtls.offByDefault(
    'Verifies forwarded certificates again, against CA_PATH and CRL_PATH. Always on with aws-alb-passthrough.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_XFCC_ELEMENT: mtls(
    { type: 'enum', default: 'only', values: ['only', 'first'] },
    'Preset envoy: a header with several elements is refused (only), or its first one counts.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER: mtls(
    { ...HEADER_NAME, default: null },
    'Preset custom: header with the certificate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_DECODER: mtls(
    {
      type: 'enum',
      default: 'url-pem',
      values: ['url-pem', 'base64-der', 'rfc9440', 'xfcc', 'pem-spaces'],
    },
    'Preset custom: encoding of the certificate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_HEADER: mtls(
    { ...HEADER_NAME, default: null },
    "Preset custom: header with the proxy's verdict. Empty = the proxy forwards only verified certificates.",
  ),
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_VALUE: mtls(
    { type: 'string', default: 'SUCCESS' },
    'Preset custom: the verdict that means verified.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_EMAIL_HEADER: mtls(
    { ...HEADER_NAME, default: 'x-service-client-cert-email' },
    'Header with the SAN e-mail.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_UPN_HEADER: mtls(
    { ...HEADER_NAME, default: 'x-service-client-cert-upn' },
    'Header with the SAN UPN.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_SUBJECT_HEADER: mtls(
    { ...HEADER_NAME, default: 'x-service-client-cert-subject' },
    'Header with the subject.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_FINGERPRINT_HEADER: mtls(
    { ...HEADER_NAME, default: 'x-service-client-cert-sha256' },
    'Header with the SHA-256 fingerprint.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_ISSUER_HEADER: mtls(
    { ...HEADER_NAME, default: 'x-service-client-cert-issuer' },
    'Header with the issuer.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__PUBLIC_URL: mtls(
    PLAIN_ADDRESS,
    'Address at which browsers are asked for certificates. Empty = the address at which they begin.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES: mtls(
    {
      type: 'csv',
      default: [],
      pattern: /^[a-z][a-z0-9+.-]*:\/\/\S*$/i,
      shape: 'an address such as https://app.example.com/login or myapp://auth',
    },
    'Addresses to which the browser flow may return, compared by origin and path. The account page at SERVICE_PUBLIC_URL is always allowed.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CLAIM_TTL_SECONDS: mtls(
    { type: 'integer', default: 60, min: 10, max: 600 },
    'Lifetime of the single-use code of the browser flow.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TOKEN_TTL_SECONDS: mtls(
    { type: 'integer', default: 43_200, min: 60, max: 31_536_000 },
    'Lifetime of the token of a certificate login. It ends with the certificate, or after AUTH_TOKEN_TTL_SECONDS, if that is earlier. The default is 12 hours.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TLS_PORT: mtls(
    { type: 'integer', default: null, min: 0, max: 65_535 },
    'Port on which this server asks for certificates (mode direct).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH: mtls.path(
    'PEM file with the certificate chain of this server (mode direct).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH: mtls.path(
    'PEM file with the key of this server (mode direct).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CA_PATH: mtls.path(
    'PEM bundle of the authorities of client certificates (mode direct, and pass-through presets).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_PATH: mtls.path(
    'PEM file with revoked certificates. Empty = no revocation list.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_URLS: mtls(
    {
      type: 'csv',
      default: [],
      pattern: /^https?:\/\/[^\s#@]+$/,
      shape: 'an address such as http://pki.example.com/issuing.crl',
    },
    'Addresses of revocation lists (DER or PEM), one for each authority of the path, the root included. Each needs the signature of its authority.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_FETCH_SECONDS: mtls(
    { type: 'integer', default: 300, min: 5, max: 86_400 },
    'Longest time between two downloads of a revocation list, and longest use of an OCSP answer. An earlier nextUpdate counts.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_MAX_AGE_SECONDS: mtls(
    { type: 'integer', default: 86_400, min: 60, max: 31_536_000 },
    'Time that a revocation list without nextUpdate counts after its thisUpdate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS: mtls(
    {
      type: 'csv',
      default: [],
      lowerCase: true,
      pattern: /^[^\s/@,]+$/,
      shape: 'a host such as pki.example.com or pki.example.com:8080',
    },
    'Hosts of revocation lists and OCSP responders in certificates that this server may ask. Empty = none.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__OCSP_ENABLED: mtls.offByDefault(
    'Asks the OCSP responder of a certificate if CRL_ALLOWED_HOSTS has its host.',
  ),
};

type MtlsValues = ValuesOf<typeof MTLS_VARIABLES>;

export interface MtlsInput {
  readonly values: MtlsValues & AccountPageValues;
  readonly certificateRules: CertificateAllowRules;
}

export const mtlsConfig = namespaceOf('mtls', ({ values, certificateRules }: MtlsInput) => ({
  enabled: values.SERVICE_FEATURE_AUTH_MTLS__ENABLED,
  mode: values.SERVICE_FEATURE_AUTH_MTLS__MODE,
  autoProvision: values.SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION,
  identitySource: values.SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE,
  ...certificateRules,
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
  /** Without a trailing slash; null = the public URL. */
  publicUrl: values.SERVICE_FEATURE_AUTH_MTLS__PUBLIC_URL?.replace(/\/+$/, '') ?? null,
  returnToAllowPrefixes: returnToPrefixes(values),
  claimTtlSeconds: values.SERVICE_FEATURE_AUTH_MTLS__CLAIM_TTL_SECONDS,
  tokenTtlSeconds: values.SERVICE_FEATURE_AUTH_MTLS__TOKEN_TTL_SECONDS,
  tlsPort: values.SERVICE_FEATURE_AUTH_MTLS__TLS_PORT,
  tlsCertPath: values.SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH,
  tlsKeyPath: values.SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH,
  caPath: values.SERVICE_FEATURE_AUTH_MTLS__CA_PATH,
  crlPath: values.SERVICE_FEATURE_AUTH_MTLS__CRL_PATH,
  ...revocationSources(values),
}));

export type MtlsSettings = ReturnType<typeof mtlsConfig>;

/** @returns null outside of mode direct */
export function mtlsTlsFiles(mtls: MtlsSettings): TlsFileSet | null {
  const { enabled, mode, tlsCertPath, tlsKeyPath, caPath } = mtls;
  if (!enabled || mode !== 'direct' || tlsCertPath === null || tlsKeyPath === null) {
    return null;
  }
  const prefix = 'SERVICE_FEATURE_AUTH_MTLS__';
  return {
    cert: { variable: `${prefix}TLS_CERT_PATH`, path: tlsCertPath },
    key: { variable: `${prefix}TLS_KEY_PATH`, path: tlsKeyPath },
    ...(caPath !== null && { ca: { variable: `${prefix}CA_PATH`, path: caPath } }),
  };
}

function revocationSources(values: MtlsValues) {
  return {
    /** Revocation lists to fetch. Empty = only those that certificates name. */
    crlUrls: values.SERVICE_FEATURE_AUTH_MTLS__CRL_URLS,
    crlFetchSeconds: values.SERVICE_FEATURE_AUTH_MTLS__CRL_FETCH_SECONDS,
    crlMaxAgeSeconds: values.SERVICE_FEATURE_AUTH_MTLS__CRL_MAX_AGE_SECONDS,
    /** Hosts, with a port where it is not the default, of addresses in certificates. Empty = none. */
    revocationHosts: values.SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS,
    ocspEnabled: values.SERVICE_FEATURE_AUTH_MTLS__OCSP_ENABLED,
  };
}

/** Includes the account page if this server serves it: a code sent to it stays on this server. */
function returnToPrefixes(values: MtlsInput['values']): readonly string[] {
  const prefixes = values.SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES;
  const publicUrl = withoutTrailingSlash(values.SERVICE_PUBLIC_URL);
  return publicUrl !== null && hostsAccountPage(values)
    ? [...prefixes, `${publicUrl}/app`]
    : prefixes;
}

function lowerCase(name: string | null): string | null {
  return name?.toLowerCase() ?? null;
}
