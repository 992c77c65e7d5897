import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { IssuedCertificate } from '../fakes/certificates.js';
import type { Json, Login } from '../helpers/client.js';
import type { Server } from '../helpers/server.js';

/** The one peer that servers of these tests believe; any other address is a stranger's. */
export const PROXY = '127.0.0.2';
export const STRANGER = '127.0.0.1';

const PREFIX = 'SERVICE_FEATURE_AUTH_MTLS__';

/** Variables of a server with certificate logins; names without their common prefix. */
export function mtlsEnv(changes: Readonly<Record<string, string>> = {}): Record<string, string> {
  const own = {
    ENABLED: '1',
    AUTO_PROVISION: '1',
    TRUST_FORWARDED_HEADERS: '1',
    TRUSTED_PROXIES: PROXY,
    RETURN_TO_ALLOW_PREFIXES: 'https://app.example/login,myapp://auth',
    ...changes,
  };
  return {
    SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
    SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
    ...Object.fromEntries(Object.entries(own).map(([name, value]) => [PREFIX + name, value])),
  };
}

/** Names and values as they go over the wire: in this order, twice where they are twice. */
export type RawHeaders = readonly (readonly [name: string, value: string])[];

export interface RawAnswer {
  readonly status: number;
  readonly body: Json & Partial<Login>;
  readonly location: string | null;
}

/** A call that comes from an address of this machine. */
export async function callFrom(
  peer: string,
  server: { readonly url: string },
  headers: RawHeaders,
  method = 'POST',
  path = '/v1/auth/mtls',
): Promise<RawAnswer> {
  const { hostname, port } = new URL(server.url);
  const spelled: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    spelled[name] = [...(spelled[name] ?? []), value];
  }
  const sent = request({ hostname, port, method, path, localAddress: peer, headers: spelled });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  return {
    status: answer.statusCode ?? 0,
    body: text === '' ? {} : (JSON.parse(text) as Json),
    location: answer.headers.location ?? null,
  };
}

/** Ways to write a header name that some program between here and there takes for the same. */
export function spellingsOf(name: string): string[] {
  const title = name.replace(/(^|-)./g, (letters) => letters.toUpperCase());
  return [
    name,
    name.toUpperCase(),
    title,
    name.replace(/[a-z]/g, (letter, at: number) => (at % 2 ? letter.toUpperCase() : letter)),
    name.replaceAll('-', '_'),
    name.replaceAll('-', '_').toUpperCase(),
    title.replace('-', '_'),
    name.replace(/-(?=[^-]*$)/, '_'),
    name.replaceAll('-', '--'),
    name.replaceAll('-', '__'),
    name.replaceAll('-', '.'),
    `${name}_`,
  ];
}

export const urlPem = (pem: string): string => encodeURIComponent(pem);
const base64 = ({ der }: IssuedCertificate): string => der.toString('base64');

/** What each proxy says of a certificate that it verified, in its own format. */
export const FORWARDED: Readonly<
  Record<string, (own: IssuedCertificate, above: IssuedCertificate) => RawHeaders>
> = {
  plain: () => [['x-service-client-cert-email', 'alice@corp.example']],
  'ingress-nginx': (own) => [
    ['ssl-client-verify', 'SUCCESS'],
    ['ssl-client-subject-dn', 'CN=Alice'],
    ['ssl-client-cert', urlPem(own.cert)],
  ],
  envoy: (own) => {
    const hash = createHash('sha256').update(own.der).digest('hex');
    const subject = String.raw`Subject="CN=\"Alice\", Acme;,Hash=00"`;
    return [
      [
        'x-forwarded-client-cert',
        `By=spiffe://a/b;Hash=${hash};Cert="${urlPem(own.cert)}";${subject};URI=`,
      ],
    ];
  },
  traefik: (own, above) => [['x-forwarded-tls-client-cert', `${base64(own)},${base64(above)}`]],
  haproxy: (own) => [
    ['x-ssl-client-verify', '0'],
    ['x-ssl-client-cert', base64(own)],
  ],
  // AWS leaves `+`, `=` and `/` as they are.
  'aws-alb-verify': (own) => [
    [
      'x-amzn-mtls-clientcert-leaf',
      own.cert.replace(/[ \n]/g, (character) => encodeURIComponent(character)),
    ],
  ],
  'aws-alb-passthrough': (own, above) => [
    ['x-amzn-mtls-clientcert', urlPem(`${own.cert}${above.cert}`)],
  ],
  rfc9440: (own, above) => [
    ['client-cert', `:${base64(own)}:`],
    ['client-cert-chain', `:${base64(above)}:`],
  ],
  custom: (own) => [['x-tls-client', own.cert.replaceAll('\n', ' ')]],
};

type Chained = (own: IssuedCertificate, above: readonly IssuedCertificate[]) => RawHeaders;

const pemOf = (certificates: readonly IssuedCertificate[]): string =>
  urlPem(certificates.map(({ cert }) => cert).join(''));
const leafAlone =
  (preset: string): Chained =>
  (own) =>
    FORWARDED[preset]?.(own, own) ?? [];

/** Presets that forward a certificate, with all that they forward of a chain. */
export const CHAINED: Readonly<Record<string, { headers: Chained; hasChain: boolean }>> = {
  'ingress-nginx': { headers: leafAlone('ingress-nginx'), hasChain: false },
  haproxy: { headers: leafAlone('haproxy'), hasChain: false },
  'aws-alb-verify': { headers: leafAlone('aws-alb-verify'), hasChain: false },
  custom: { headers: leafAlone('custom'), hasChain: false },
  envoy: {
    headers: (own, above) => [['x-forwarded-client-cert', `Chain="${pemOf([own, ...above])}"`]],
    hasChain: true,
  },
  traefik: {
    headers: (own, above) => [['x-forwarded-tls-client-cert', [own, ...above].map(base64).join()]],
    hasChain: true,
  },
  'aws-alb-passthrough': {
    headers: (own, above) => [['x-amzn-mtls-clientcert', pemOf([own, ...above])]],
    hasChain: true,
  },
  rfc9440: {
    headers: (own, above) => [
      ['client-cert', `:${base64(own)}:`],
      ...(above.length === 0
        ? []
        : [['client-cert-chain', above.map((one) => `:${base64(one)}:`).join(', ')] as const]),
    ],
    hasChain: true,
  },
};

/** Events of the audit trail, from the log of a server that ended. */
export async function auditOf(server: Server): Promise<Readonly<Record<string, number>>> {
  await server.kill('SIGTERM');
  const refused: Record<string, number> = {};
  for (const line of server.logs().split('\n')) {
    if (line.includes('"login-refused"') && line.includes('"mtls"')) {
      const { reason, count } = JSON.parse(line) as { reason: string; count: number };
      refused[reason] = (refused[reason] ?? 0) + count;
    }
  }
  return refused;
}
