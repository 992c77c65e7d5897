import type { ConfigType } from '@nestjs/config';
import { namespaceOf, type Variable, variablesOf } from './environment/variable.js';
import type { Values } from './environment/env.js';
import { hostsAccountPage, withoutTrailingSlash } from './http.config.js';

const HEADER_NAME = {
  type: 'string',
  pattern: /^[\w!#$%&'*+.^`|~-]+$/,
  shape: 'a header name',
} as const;

const mtls = variablesOf('Client certificates (mTLS)');

/** Login with a client certificate, verified by a proxy (forwarded) or by this server (direct). */
export const MTLS_VARIABLES = {
  SERVICE_FEATURE_AUTH_MTLS__ENABLED: mtls(
    { type: 'boolean', default: false },
    'Offers keyless login with a client certificate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__MODE: mtls(
    { type: 'enum', default: 'forwarded', values: ['forwarded', 'direct'] },
    'Whether a reverse proxy verifies the certificate, or this server on a port of its own.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION: mtls(
    { type: 'boolean', default: false },
    'Creates a keyless account at the first login with a certificate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE: mtls(
    {
      type: 'enum',
      default: 'san_email',
      values: ['san_email', 'san_upn', 'subject_cn', 'fingerprint'],
    },
    'The part of the certificate that names the account.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS: mtls(
    {
      type: 'csv',
      default: [],
      lowerCase: true,
      pattern: /^[^\s@,]+$/,
      shape: 'a domain without @',
    },
    'Domains an e-mail or UPN identity may have. Empty = any.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS: mtls(
    { type: 'csv', default: [] },
    'Issuers as common name or full DN; put a DN in double quotes, as it has commas. Empty = any that is verified.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__RULES_PATH: mtls(
    { type: 'path', default: null },
    'JSON file with the lists `allowedIssuers` and `allowedEmailDomains`, in place of these two variables. A change of it takes effect without a restart.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS: mtls(
    { type: 'boolean', default: false },
    'Believes the identity headers of the trusted proxies (mode forwarded).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES: mtls(
    { type: 'cidrs', default: [] },
    'Peers whose identity headers are trusted; from any other they are stripped. Empty = none.',
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
    'Format in which the proxy forwards the certificate. Exactly one is active.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED: mtls(
    { type: 'boolean', default: false },
    'Verifies forwarded certificates against CA_PATH (and CRL_PATH) once more. Always so with aws-alb-passthrough.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_XFCC_ELEMENT: mtls(
    { type: 'enum', default: 'only', values: ['only', 'first'] },
    'Preset envoy: whether a header with several elements is refused, or its first element counts.',
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
    'Preset custom: how the certificate is written.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_HEADER: mtls(
    { ...HEADER_NAME, default: null },
    "Preset custom: header with the proxy's verdict. Empty = the proxy forwards only what it verified.",
  ),
  SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_VALUE: mtls(
    { type: 'string', default: 'SUCCESS' },
    'Preset custom: the one verdict that means verified.',
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
    { type: 'url', default: null, schemes: ['https', 'http'] },
    'Address at which browsers are asked for certificates, where that is another than the one they begin at.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES: mtls(
    {
      type: 'csv',
      default: [],
      pattern: /^[a-z][a-z0-9+.-]*:\/\/\S*$/i,
      shape: 'an address such as https://app.example.com/login or myapp://auth',
    },
    'Addresses to which the browser flow may return, compared by origin and path. Where this server hosts the account page at SERVICE_PUBLIC_URL, that is always one.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CLAIM_TTL_SECONDS: mtls(
    { type: 'integer', default: 60, min: 10, max: 600 },
    'Lifetime of the single-use code of the browser flow.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TOKEN_TTL_SECONDS: mtls(
    { type: 'integer', default: 43_200, min: 60, max: 31_536_000 },
    'Lifetime of the token of a certificate login, at most AUTH_TOKEN_TTL_SECONDS; it ends with the certificate where that is earlier. The default is 12 hours: such a login needs no action of the user.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TLS_PORT: mtls(
    { type: 'integer', default: null, min: 0, max: 65_535 },
    'Port on which this server asks for certificates (mode direct).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH: mtls(
    { type: 'path', default: null },
    'PEM file with the certificate chain of this server (mode direct).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH: mtls(
    { type: 'path', default: null },
    'PEM file with the key of this server (mode direct).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CA_PATH: mtls(
    { type: 'path', default: null },
    'PEM bundle of the authorities that issue client certificates (mode direct, and pass-through presets).',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_PATH: mtls(
    { type: 'path', default: null },
    'PEM file with revoked certificates. Empty = no revocation list.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_URLS: mtls(
    {
      type: 'csv',
      default: [],
      pattern: /^https?:\/\/[^\s#@]+$/,
      shape: 'an address such as http://pki.example.com/issuing.crl',
    },
    'Addresses of revocation lists to fetch, in DER or PEM. A list fetched over http has to be signed by an authority of CA_PATH or by the one that issued the certificate.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_FETCH_SECONDS: mtls(
    { type: 'integer', default: 300, min: 5, max: 86_400 },
    'Longest time between two downloads of a revocation list, and lifetime of an OCSP answer in the cache; both are renewed earlier where their nextUpdate is.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS: mtls(
    {
      type: 'csv',
      default: [],
      lowerCase: true,
      pattern: /^[^\s/@,]+$/,
      shape: 'a host such as pki.example.com or pki.example.com:8080',
    },
    'Hosts whose revocation lists and OCSP responders, as certificates name them, are asked. Empty = none.',
  ),
  SERVICE_FEATURE_AUTH_MTLS__OCSP_ENABLED: mtls(
    { type: 'boolean', default: false },
    'Asks the OCSP responder that a certificate names, if CRL_ALLOWED_HOSTS has its host.',
  ),
} as const satisfies Record<string, Variable>;

export const mtlsConfig = namespaceOf('mtls', ({ values, certificateRules }) => ({
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
  /** Whether this server verifies what a proxy forwards, too. */
  verifyForwarded: values.SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED,
  xfccElement: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_XFCC_ELEMENT,
  custom: {
    certificateHeader: lowerCase(values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER),
    decoder: values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_DECODER,
    verifyHeader: lowerCase(values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_HEADER),
    verifyValue: values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_VALUE,
  },
  /** Where browsers are asked for certificates, without a trailing slash; null = where they are. */
  publicUrl: values.SERVICE_FEATURE_AUTH_MTLS__PUBLIC_URL?.replace(/\/+$/, '') ?? null,
  returnToAllowPrefixes: returnToPrefixes(values),
  claimTtlSeconds: values.SERVICE_FEATURE_AUTH_MTLS__CLAIM_TTL_SECONDS,
  /** Longest lifetime of the token of a certificate login. */
  tokenTtlSeconds: values.SERVICE_FEATURE_AUTH_MTLS__TOKEN_TTL_SECONDS,
  tlsPort: values.SERVICE_FEATURE_AUTH_MTLS__TLS_PORT,
  tlsCertPath: values.SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH,
  tlsKeyPath: values.SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH,
  caPath: values.SERVICE_FEATURE_AUTH_MTLS__CA_PATH,
  crlPath: values.SERVICE_FEATURE_AUTH_MTLS__CRL_PATH,
  ...revocationSources(values),
}));

export type MtlsSettings = ConfigType<typeof mtlsConfig>;

function revocationSources(values: Values) {
  return {
    /** Revocation lists to fetch. Empty = none but those that certificates name. */
    crlUrls: values.SERVICE_FEATURE_AUTH_MTLS__CRL_URLS,
    crlFetchSeconds: values.SERVICE_FEATURE_AUTH_MTLS__CRL_FETCH_SECONDS,
    /** Hosts, with a port where it is not the default, of addresses in certificates. Empty = none. */
    revocationHosts: values.SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS,
    ocspEnabled: values.SERVICE_FEATURE_AUTH_MTLS__OCSP_ENABLED,
  };
}

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
