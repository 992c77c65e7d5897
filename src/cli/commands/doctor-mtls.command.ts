import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { forgeries, type Forgery } from './doctor-forgeries.js';
import { ask, type DoctorAnswer, type DoctorTarget } from './doctor-request.js';

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

/**
 * Sends forged certificate headers through the address that clients use, in every spelling, and
 * says whether the server believed one. It can: then the proxy passes on what it has to take away.
 */
export async function run(context: CliContext): Promise<number> {
  const target = targetOf(context);
  await requireCertificateLogin(target);
  const findings: Finding[] = [];
  for (const forgery of forgeries()) {
    findings.push(await examine(target, forgery, context));
  }
  const failed = findings.filter(({ verdict }) => verdict === 'fail');
  const unknown = findings.filter(({ verdict }) => verdict === 'unknown');
  const isOk = failed.length + unknown.length === 0;
  context.output.result(
    { ok: isOk, url: target.url, findings },
    [...findings.map(describe), '', conclusion(failed.length, unknown.length)].join('\n'),
  );
  if (failed.length > 0) {
    return EXIT.refused;
  }
  return unknown.length > 0 ? EXIT.unreachable : EXIT.ok;
}

function targetOf({ options }: CliContext): DoctorTarget {
  const url = options.publicUrl ?? '';
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new CliError(`This is no address: ${url}`, {
      exitCode: EXIT.usage,
      code: 'usage',
      hint: 'Give the address that clients use: --public-url https://gate.example.org',
    });
  }
  return { url: url.replace(/\/+$/, ''), connectTo: options.connectTo ?? null };
}

/** Where no certificate is believed anyway, a pass would say nothing. */
async function requireCertificateLogin(target: DoctorTarget): Promise<void> {
  const answer = await ask(target, 'POST', '/v1/auth/mtls', []);
  if (answer.code !== 'mtls-required') {
    throw new CliError(
      `Without a certificate, ${target.url} answered ${answer.status} ${answer.code ?? ''} instead of 401 mtls-required.`,
      {
        exitCode: EXIT.refused,
        code: 'cannot-tell',
        hint: 'Is login with client certificates on, and is this the address of the server?',
      },
    );
  }
}

async function examine(
  target: DoctorTarget,
  forgery: Forgery,
  context: CliContext,
): Promise<Finding> {
  const answer = await askPatiently(target, forgery, context);
  return {
    spelling: forgery.spelling,
    headers: [...new Set(forgery.headers.map(([name]) => name))],
    verdict: answer === null ? 'pass' : judge(answer),
    status: answer?.status ?? null,
    code: answer?.code ?? null,
  };
}

/** @returns null when the connection was ended: nobody was let in */
async function askPatiently(
  target: DoctorTarget,
  { headers }: Forgery,
  context: CliContext,
): Promise<DoctorAnswer | null> {
  for (let waits = 0; ; waits += 1) {
    const answer = await ask(target, 'POST', '/v1/auth/mtls', headers).catch(() => null);
    if (answer?.status !== 429 || waits === MAX_WAITS) {
      return answer;
    }
    const seconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS;
    context.output.note(`The server limits logins: waiting ${seconds} seconds.`);
    await sleep(seconds * 1000);
  }
}

/** Without a certificate a server says 401; anything it says of a person means it believed one. */
function judge({ status, code }: DoctorAnswer): Verdict {
  if (status === 401 && code === 'mtls-required') {
    return 'pass';
  }
  // The proxy would not have such a request at all.
  if (status >= 400 && status < 500 && code === null && status !== 404 && status !== 429) {
    return 'pass';
  }
  return status === 200 || status === 403 || status === 409 ? 'fail' : 'unknown';
}

function describe({ verdict, spelling, headers, status, code }: Finding): string {
  const said = status === null ? 'connection ended' : `${status} ${code ?? '(not the server)'}`;
  return `${verdict.padEnd(8)}${spelling.padEnd(24)}${said}  ${headers.join(' ')}`;
}

function conclusion(failed: number, unknown: number): string {
  if (failed > 0) {
    return `FAIL: the server believed ${failed} forged requests. Let the proxy take these headers away before it sets its own.`;
  }
  return unknown > 0
    ? `Cannot tell: ${unknown} requests were answered by neither a yes nor a no.`
    : 'pass: no forged certificate was believed.';
}
