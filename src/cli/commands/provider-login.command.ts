import { createHash, randomBytes } from 'node:crypto';
import type { LoginAnswer } from '../../client/api-client-answers.js';
import { Transport } from '../../client/api-client-transport.js';
import { GatehouseClient } from '../../client/api-client.js';
import { GatehouseProblem, isRecord } from '../../client/problem.js';
import { loopbackCode } from '../../policy/loopback-code.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { deviceKeyFor } from '../device-key-store.js';
import { EXIT } from '../exit-codes.js';
import { listenForReturn, type LoopbackReturn } from '../loopback-return.js';
import { openBrowser, readBrowserAddress } from '../open-browser.js';
import { ServerStore } from '../server-store.js';

/** As long as the server keeps the login open. */
const WAIT_MS = 10 * 60_000;
const PROOF_BYTES = 32;

/** What the return address says when there is no pending login, in words. */
const REFUSALS: Readonly<Record<string, string>> = {
  access_denied: 'You or the provider refused the login.',
  not_eligible: 'The provider says who you are, but its rules here do not let you in.',
  invalid_state: 'This login was used or has expired. Try again.',
  keyless_disabled: 'This server does not offer logins without a device key.',
  e2ee_required: 'This server asks for a device key: log in without --keyless.',
  upstream_error: 'The provider could not be asked. Try again shortly.',
};

/** Logs in through an identity provider: a browser shows who is there, the proof stays here. */
export async function logInThroughProvider(
  context: CliContext,
  server: string,
  provider: string,
): Promise<LoginAnswer> {
  const transport = new Transport({ serverUrl: server });
  const proof = randomBytes(PROOF_BYTES).toString('base64url');
  const listener = await listenForReturn(`/oauth/${provider}`);
  try {
    const url = await begin(transport, provider, proof, listener.port, context);
    invite(context, url);
    const pending = await pendingFrom(listener);
    return await finish(context, { server, provider, proof, pending });
  } finally {
    listener.close();
  }
}

async function begin(
  transport: Transport,
  provider: string,
  proof: string,
  port: number,
  { options }: CliContext,
): Promise<URL> {
  const query = new URLSearchParams({
    mode: options.keyless === true ? 'keyless' : 'keyed',
    proofHash: createHash('sha256').update(proof).digest('hex'),
    loopbackPort: String(port),
  });
  const path = `/v1/auth/external/${encodeURIComponent(provider)}/params?${query.toString()}`;
  try {
    return readBrowserAddress((await transport.send('GET', path, { isAnswer: isStart })).url);
  } catch (error) {
    throw isLoopbackOff(error)
      ? new CliError('This server does not let a browser return to a program on the computer.', {
          exitCode: EXIT.refused,
          code: 'loopback-return-disabled',
          hint: 'Sign in with a browser or another client of this server.',
        })
      : error;
  }
}

/** The server knows the parameter, and its operator turned it off (AUTH_LOOPBACK_RETURN_ENABLED). */
function isLoopbackOff(error: unknown): boolean {
  const isAbout = ({ path }: { readonly path: string }): boolean => path === 'loopbackPort';
  return error instanceof GatehouseProblem && error.details?.some(isAbout) === true;
}

function invite({ options, output }: CliContext, url: URL): void {
  output.note(`Open this address in a browser on this machine:\n\n  ${url.href}\n`);
  const code = loopbackCode(url.searchParams.get('state') ?? '');
  output.note(`Continue there only if the page of the server shows this code: ${code}`);
  if (options.browser !== false && process.stderr.isTTY) {
    openBrowser(url);
  }
  output.note('Waiting for the browser to come back. Ctrl-C gives up.');
}

async function pendingFrom(listener: LoopbackReturn): Promise<string> {
  const answer = await listener.wait(WAIT_MS);
  const pending = answer?.get('pending') ?? null;
  if (pending !== null) {
    return pending;
  }
  const error = answer === null ? 'timeout' : (answer.get('error') ?? 'invalid_return');
  const known = Object.hasOwn(REFUSALS, error) ? REFUSALS[error] : undefined;
  const words = answer === null ? 'The browser did not come back in time.' : known;
  throw new CliError(words ?? `The login was refused: ${error}.`, {
    exitCode: EXIT.refused,
    code: error.replaceAll('_', '-'),
    hint: 'Begin again: gatehouse login --provider <id>',
  });
}

interface Return {
  readonly server: string;
  readonly provider: string;
  readonly proof: string;
  readonly pending: string;
}

async function finish(context: CliContext, back: Return): Promise<LoginAnswer> {
  const { server, provider, proof, pending } = back;
  const { external } = new GatehouseClient({ serverUrl: server });
  if (context.options.keyless === true) {
    return external.finishKeyless(provider, { pending, proof });
  }
  const store = new ServerStore(context.environment);
  const key = await deviceKeyFor(server, store);
  const answer = await external.finish(provider, { pending, proof }, key);
  await store.noteAccount(server);
  return answer;
}

function isStart(value: unknown): value is { readonly url: string } {
  return isRecord(value) && typeof value['url'] === 'string';
}
