import { createHash } from 'node:crypto';

/** Headers of one request that nobody but a proxy may send, all names in one spelling. */
export interface Forgery {
  readonly spelling: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/**
 * Self-signed, and expired since 2020: a server that believes it still refuses it, in other words
 * than those for no certificate at all. So the question never makes an account.
 */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBozCCAUqgAwIBAgIUTckSoz8OcEOX7qmpbqzGqkS8FiMwCgYIKoZIzj0EAwIw
JTEjMCEGA1UEAwwaRm9yZ2VkIGJ5IGdhdGVob3VzZSBkb2N0b3IwHhcNMjAwMTAx
MDAwMDAwWhcNMjAwMTAyMDAwMDAwWjAlMSMwIQYDVQQDDBpGb3JnZWQgYnkgZ2F0
ZWhvdXNlIGRvY3RvcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGJ1B9FQC7pA
vp/3P6zL0ZDbnEHaGUk/yoPz8hdNLHjAXzpXxslHGkN/tInKCq6oT8IjQvNaaxu9
p2q7Y+if2c+jWDBWMCAGA1UdEQQZMBeBFWRvY3RvckBmb3JnZWQuaW52YWxpZDAT
BgNVHSUEDDAKBggrBgEFBQcDAjAdBgNVHQ4EFgQU7YNuEBqXDX+VvyyUYCwqmWTY
9icwCgYIKoZIzj0EAwIDRwAwRAIgO+cCm+Y2fIOQYESBYTyJXh5C3kZb7moNDxQb
KL8B1JUCIDfJyfSpH38iredqGeBP+32NW/fGtApJm2D0ExG0xDyZ
-----END CERTIFICATE-----
`;

const BASE64 = CERTIFICATE.replace(/-----[A-Z ]+-----|\n/g, '');
const URL_PEM = encodeURIComponent(CERTIFICATE);
const HASH = createHash('sha256').update(Buffer.from(BASE64, 'base64')).digest('hex');
/** Refused in those other words, too: nobody is everybody. */
const ADDRESS = '*@forged.invalid';

type Headers = Readonly<Record<string, string>>;

/** What a proxy of each kind would send. Few requests, as logins have a limit, and none too large. */
const GROUPS: readonly Headers[] = [
  {
    'x-service-client-cert-email': ADDRESS,
    'x-service-client-cert-upn': ADDRESS,
    'x-service-client-cert-subject': 'CN=*',
    'x-service-client-cert-sha256': HASH.replace(/^./, 'x'),
    'x-service-client-cert-issuer': 'CN=Forged',
    'ssl-client-verify': 'SUCCESS',
    'ssl-client-cert': URL_PEM,
    'x-ssl-client-verify': '0',
    'x-ssl-client-cert': BASE64,
  },
  {
    'x-forwarded-client-cert': `Hash=${HASH};Cert="${URL_PEM}"`,
    'x-forwarded-tls-client-cert': BASE64,
    'client-cert': `:${BASE64}:`,
  },
  {
    'x-amzn-mtls-clientcert-leaf': URL_PEM,
    'x-amzn-mtls-clientcert': URL_PEM,
  },
  // Of one's own choice: what the shipped files for Apache and Caddy use, and what others do.
  {
    'x-client-cert': CERTIFICATE.trim().replaceAll('\n', ' '),
    'x-client-cert-verify': 'SUCCESS',
    'x-arr-clientcert': BASE64,
    'cf-client-cert-der-base64': BASE64,
  },
  { 'x-client-cert': BASE64, 'x-client-cert-verify': 'SUCCESS' },
];

type Spell = (name: string) => string;

const title: Spell = (name) => name.replace(/(^|-)./g, (letters) => letters.toUpperCase());

/** Spellings that some program on the way takes for the same name. */
const SPELLINGS: Readonly<Record<string, Spell>> = {
  'lower case': (name) => name,
  'upper case': (name) => name.toUpperCase(),
  'title case': title,
  'mixed case': (name) => name.replace(/[a-z]/g, (letter, at: number) => alternate(letter, at)),
  underscores: (name) => name.replaceAll('-', '_'),
  'upper case underscores': (name) => name.replaceAll('-', '_').toUpperCase(),
  'first underscore': (name) => title(name).replace('-', '_'),
  'last underscore': (name) => name.replace(/-(?=[^-]*$)/, '_'),
  'doubled dashes': (name) => name.replaceAll('-', '--'),
  'doubled underscores': (name) => name.replaceAll('-', '__'),
  dots: (name) => name.replaceAll('-', '.'),
  'trailing underscore': (name) => `${name}_`,
};

/** Everything the doctor sends, one entry a request. */
export function forgeries(): Forgery[] {
  const spelled = Object.entries(SPELLINGS).flatMap(([spelling, spell]) =>
    GROUPS.map((group) => ({
      spelling,
      headers: Object.entries(group).map(([name, value]) => [spell(name), value] as const),
    })),
  );
  // Where only the first of two is taken away, the second one is believed.
  const doubled = GROUPS.map((group) => ({
    spelling: 'sent twice',
    headers: [...Object.entries(group), ...Object.entries(group)],
  }));
  return [...spelled, ...doubled];
}

function alternate(letter: string, at: number): string {
  return at % 2 === 0 ? letter : letter.toUpperCase();
}
