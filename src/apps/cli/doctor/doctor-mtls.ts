import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSmallFile } from '../../../server/config/environment/small-file.js';
import { recordOf } from '../../../core/protocol/is-record.js';
import { parseJson } from '../../../common/parse-json.js';
import { readRetryAfter } from '../../../common/retry-after.js';
import { ServerUnreachable } from '../../../packages/client/api/problem.js';
import { reportOnChain, type ChainReport } from '../../../core/x509/chain-report.js';
import type { CliContext } from '../command.js';
import { EXIT, refusedError, usageError } from '../cli-error.js';

type Context = CliContext<{
  readonly publicUrl?: string;
  readonly connectTo?: string;
  readonly chain?: string;
  readonly ca?: string;
}>;

type Verdict = 'pass' | 'fail' | 'unknown';

interface Finding {
  readonly spelling: string;
  readonly headers: readonly string[];
  readonly verdict: Verdict;
  readonly status: number | null;
  readonly code: string | null;
}

const DEFAULT_WAIT_SECONDS = 30;
const MAX_WAITS = 5;

export async function run(context: Context): Promise<number> {
  const { publicUrl, ca, chain } = context.options;
  if (chain !== undefined && ca === undefined) {
    throw usageError('--chain needs --ca: the authorities that the chain has to lead to.');
  }
  if (publicUrl === undefined && ca === undefined) {
    throw usageError('Give --public-url to test the proxy, or --ca to test certificates.');
  }
  const certificates = ca === undefined ? null : reportOnFiles(ca, chain ?? null);
  const forgeries =
    publicUrl === undefined ? null : await testForgeries(targetOf(context), context);
  const isValid = certificates === null || certificates.flaw === null;
  const exitCode = forgeries?.exitCode ?? EXIT.ok;
  const ok = isValid && exitCode === EXIT.ok;
  context.output.result(
    {
      ok,
      ...(forgeries !== null && { url: forgeries.url, findings: forgeries.findings }),
      ...(certificates !== null && { certificates }),
    },
    [
      ...(forgeries === null ? [] : forgeries.lines),
      ...(certificates === null ? [] : describeCertificates(certificates, chain !== undefined)),
    ].join('\n'),
  );
  return isValid ? exitCode : EXIT.refused;
}

function reportOnFiles(ca: string, chain: string | null): ChainReport {
  const bundle = textOf('--ca', ca);
  const report = reportOnChain(
    chain === null ? null : textOf('--chain', chain),
    bundle,
    Date.now(),
  );
  if ('unreadable' in report) {
    const option = report.unreadable === 'chain' ? '--chain' : '--ca';
    throw usageError(`${option} has to name a file of certificates in PEM, all of them readable.`);
  }
  return report;
}

function textOf(option: string, path: string): string {
  const file = readSmallFile(path);
  if ('failure' in file) {
    throw usageError(`${option} names a file that ${file.failure}.`);
  }
  return file.text;
}

function describeCertificates({ flaw, findings }: ChainReport, hasChain: boolean): string[] {
  const verdict = flaw === null ? 'pass    the chain is valid' : `FAIL    the chain: ${flaw}`;
  const lines = findings.map(
    ({ certificate, code, message }) => `warning ${certificate} ${message}  [${code}]`,
  );
  const tidy = lines.length === 0 ? ['pass    the certificates follow RFC 5280'] : lines;
  return [...(hasChain ? [verdict] : []), ...tidy];
}

/** If the server accepts a forged certificate header, the proxy fails to remove it. */
async function testForgeries(target: Target, context: Context) {
  await requireCertificateLogin(target);
  const findings: Finding[] = [];
  for (const forgery of forgeries()) {
    findings.push(await examine(target, forgery, context));
  }
  const failed = findings.filter(({ verdict }) => verdict === 'fail').length;
  const unknown = findings.filter(({ verdict }) => verdict === 'unknown').length;
  const unfailed = unknown > 0 ? EXIT.unreachable : EXIT.ok;
  return {
    url: target.url,
    findings,
    lines: [...findings.map(describe), '', conclusion(failed, unknown)],
    exitCode: failed > 0 ? EXIT.refused : unfailed,
  };
}

function targetOf({ options }: Context): Target {
  const url = options.publicUrl ?? '';
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw usageError(
      `This is no address: ${url}`,
      'Give the address that clients use: --public-url https://gate.example.org',
    );
  }
  return { url: url.replace(/\/+$/, ''), connectTo: options.connectTo ?? null };
}

/** Without certificate login every forgery would appear to be removed. */
async function requireCertificateLogin(target: Target): Promise<void> {
  const answer = await send(target, []);
  if (answer.code !== 'mtls-required') {
    throw refusedError(
      `Without a certificate, ${target.url} answered ${answer.status} ${answer.code ?? ''} instead of 401 mtls-required.`,
      'inconclusive',
      'Is login with client certificates on, and is this the address of the server?',
    );
  }
}

async function examine(target: Target, forgery: Forgery, context: Context): Promise<Finding> {
  const answer = await sendWithinLimit(target, forgery, context);
  return {
    spelling: forgery.spelling,
    headers: [...new Set(forgery.headers.map(([name]) => name))],
    verdict: answer === null ? 'pass' : judge(answer),
    status: answer?.status ?? null,
    code: answer?.code ?? null,
  };
}

/** @returns null when the server closed the connection, which counts as a refusal */
async function sendWithinLimit(
  target: Target,
  { headers }: Forgery,
  context: Context,
): Promise<Answer | null> {
  for (let waits = 0; ; waits += 1) {
    const answer = await send(target, headers).catch(() => null);
    if (answer?.status !== 429 || waits === MAX_WAITS) {
      return answer;
    }
    const seconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS;
    context.output.note(`The server limits logins: waiting ${seconds} seconds.`);
    await sleep(seconds * 1000);
  }
}

/** Without a certificate the server answers 401; any answer about an account is a success. */
function judge({ status, code }: Answer): Verdict {
  if (status === 401 && code === 'mtls-required') {
    return 'pass';
  }
  if (status >= 400 && status < 500 && code === null && status !== 404 && status !== 429) {
    return 'pass';
  }
  return status === 200 || status === 403 || status === 409 ? 'fail' : 'unknown';
}

function describe({ verdict, spelling, headers, status, code }: Finding): string {
  const answer = status === null ? 'connection ended' : `${status} ${code ?? '(not the server)'}`;
  return `${verdict.padEnd(8)}${spelling.padEnd(24)}${answer}  ${headers.join(' ')}`;
}

function conclusion(failed: number, unknown: number): string {
  if (failed > 0) {
    return `FAIL: the server accepted ${failed} forged requests. The proxy must remove these headers before it sets its own.`;
  }
  return unknown > 0
    ? `Unknown: ${unknown} requests were neither accepted nor refused.`
    : 'pass: no forged certificate was accepted.';
}

interface Target {
  readonly url: string;
  /** Address to connect to instead of resolving the name. */
  readonly connectTo: string | null;
}

interface Answer {
  readonly status: number;
  /** null when another program answered. */
  readonly code: string | null;
  readonly retryAfterSeconds: number | null;
}

const TIME_LIMIT_MS = 10_000;
const MAX_BODY_CHARACTERS = 64 * 1024;

/** Sends header names in their exact spelling, which `fetch` would normalize. */
async function send({ url, connectTo }: Target, headers: HeaderList): Promise<Answer> {
  const { hostname, host, port, protocol, pathname } = new URL(url);
  const spelled: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    spelled[name] = [...(spelled[name] ?? []), value];
  }
  const options: RequestOptions & { servername?: string } = {
    host: connectTo ?? hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? undefined : port,
    method: 'POST',
    path: `${pathname.replace(/\/$/, '')}/v1/auth/mtls`,
    headers: { host, ...spelled },
    agent: false,
    timeout: TIME_LIMIT_MS,
    ...(connectTo !== null && protocol === 'https:' && { servername: hostname }),
  };
  try {
    const sent = protocol === 'https:' ? requestHttps(options) : requestHttp(options);
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return await read(answer);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServerUnreachable(url, reason, { cause: error });
  }
}

async function read(answer: IncomingMessage): Promise<Answer> {
  let text = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer as AsyncIterable<string>) {
    text = (text + chunk).slice(0, MAX_BODY_CHARACTERS);
  }
  const { code } = recordOf(parseJson(text));
  const retryAfterMs = readRetryAfter(answer.headers['retry-after'], Date.now()) ?? 0;
  return {
    status: answer.statusCode ?? 0,
    code: typeof code === 'string' ? code : null,
    retryAfterSeconds: retryAfterMs > 0 ? Math.ceil(retryAfterMs / 1000) : null,
  };
}

/** Headers of one request that only a proxy may send, with all names in one spelling. */
interface Forgery {
  readonly spelling: string;
  readonly headers: HeaderList;
}

type HeaderList = readonly (readonly [name: string, value: string])[];

/** Expired in 2020, so that no request creates an account; the code differs from a missing one. */
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
/** An invalid address, which a server that accepts the header also refuses with another code. */
const ADDRESS = '*@forged.invalid';

type Headers = Readonly<Record<string, string>>;

/** Headers of each kind of proxy, in few requests, because logins are rate-limited. */
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
  { 'x-amzn-mtls-clientcert-leaf': URL_PEM, 'x-amzn-mtls-clientcert': URL_PEM },
  // Names that operators choose, including those of the example files for Apache and Caddy.
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

/** Spellings that some proxies or servers treat as the same name. */
const SPELLINGS: Readonly<Record<string, Spell>> = {
  'lower case': (name) => name,
  'upper case': (name) => name.toUpperCase(),
  'title case': title,
  'mixed case': (name) =>
    name.replace(/[a-z]/g, (letter, at: number) => (at % 2 === 0 ? letter : letter.toUpperCase())),
  underscores: (name) => name.replaceAll('-', '_'),
  'upper case underscores': (name) => name.replaceAll('-', '_').toUpperCase(),
  'first underscore': (name) => title(name).replace('-', '_'),
  'last underscore': (name) => name.replace(/-(?=[^-]*$)/, '_'),
  'doubled dashes': (name) => name.replaceAll('-', '--'),
  'doubled underscores': (name) => name.replaceAll('-', '__'),
  dots: (name) => name.replaceAll('-', '.'),
  'trailing underscore': (name) => `${name}_`,
};

function forgeries(): Forgery[] {
  const spelled = Object.entries(SPELLINGS).flatMap(([spelling, spell]) =>
    GROUPS.map((group) => ({
      spelling,
      headers: Object.entries(group).map(([name, value]) => [spell(name), value] as const),
    })),
  );
  // A proxy may remove only the first of two headers.
  const doubled = GROUPS.map((group) => ({
    spelling: 'sent twice',
    headers: [...Object.entries(group), ...Object.entries(group)],
  }));
  return [...spelled, ...doubled];
}
