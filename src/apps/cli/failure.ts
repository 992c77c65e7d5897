import { ChallengeRefused } from '../../packages/client/crypto/login-challenge.js';
import {
  GatehouseProblem,
  ServerUnreachable,
  type ProblemFacts,
  type RefusalCode,
} from '../../packages/client/api/problem.js';
import { ConfigurationError } from '../../server/config/environment/configuration-error.js';
import { CliError, EXIT, type CliErrorFacts, type RefusalFacts } from './cli-error.js';

export interface Failure extends CliErrorFacts, RefusalFacts, Omit<ProblemFacts, 'status'> {
  readonly status?: number;
  /** The operator's support: an address or a text of the operator. */
  readonly support?: string;
  readonly problems?: ConfigurationError['problems'];
}

interface FailedCall {
  /** True if the command used GATEHOUSE_TOKEN. */
  readonly isTokenGiven: boolean;
  readonly server: string | undefined;
}

export function toFailure(error: unknown, call: FailedCall): Failure {
  if (error instanceof CliError) {
    return { ...error.facts, message: error.message };
  }
  if (error instanceof GatehouseProblem) {
    return refusal(error, call);
  }
  if (error instanceof ServerUnreachable) {
    const hint = 'Check the address, and that the server runs.';
    return { exitCode: EXIT.unreachable, code: 'unreachable', message: error.message, hint };
  }
  if (error instanceof ChallengeRefused) {
    return { exitCode: EXIT.refused, code: 'challenge-refused', message: error.message };
  }
  if (error instanceof ConfigurationError) {
    const hint = 'All variables are explained in docs/configuration.md.';
    const { message, problems } = error;
    return { exitCode: EXIT.configuration, code: 'configuration', message, hint, problems };
  }
  return unknownFailure(error);
}

const TOKEN_CODES: readonly string[] = [
  'missing-token',
  'invalid-token',
  'token-expired',
  'token-revoked',
] satisfies RefusalCode[];

const LOG_IN = 'gatehouse login';

const HINTS: Readonly<Record<string, string>> = {
  'signup-disabled':
    'Sign up with an identity provider (gatehouse signup --provider <id>), or ask its operator.',
  'invitation-invalid': 'Check the code, or ask the operator for another one.',
  'provider-required': 'Connect it on the account page or in another app, then try again.',
  'not-eligible':
    'Once your access is restored, sign in at the provider again on the account page: the server then asks at once. Check: gatehouse whoami',
  'account-disabled': 'Only an administrator can enable it. Then try again.',
  'signup-provider-disabled': 'For an account that you have already: gatehouse login',
  'key-challenge-disabled': 'Sign in through a provider: gatehouse login --provider <id>',
  'fresh-login-required': `Sign in again, then repeat it: ${LOG_IN}`,
} satisfies Partial<Record<RefusalCode, string>>;

function refusal(problem: GatehouseProblem, { isTokenGiven, server }: FailedCall): Failure {
  const { code, message, status, requestId, provider, accountId } = problem;
  const { details, retryAfterSeconds } = problem;
  const about = { code, message, status, requestId, provider, accountId };
  const facts = { ...about, details, retryAfterSeconds };
  const at = server === undefined ? '' : ` --server ${server}`;
  if (TOKEN_CODES.includes(code)) {
    const hint = isTokenGiven
      ? 'The token of GATEHOUSE_TOKEN is not accepted: replace it, or unset it.'
      : `Run: ${LOG_IN}${at}`;
    return { ...facts, exitCode: EXIT.notLoggedIn, hint };
  }
  const wait = retryAfterSeconds === undefined ? 'later' : `in ${retryAfterSeconds} seconds`;
  return {
    ...facts,
    exitCode: status >= 500 ? EXIT.unreachable : EXIT.refused,
    hint: problem.isTemporary ? `Try again ${wait}.` : HINTS[code]?.replace(LOG_IN, LOG_IN + at),
  };
}

/** Omits the stack, which does not help a user of the command. */
function unknownFailure(error: unknown): Failure {
  if (error instanceof Error && 'path' in error && 'code' in error) {
    const isDirectory = error.code === 'EISDIR';
    const message = isDirectory
      ? `${String(error.path)} is a directory, where a file belongs.`
      : `Cannot use ${String(error.path)} (${String(error.code)}).`;
    const hint = isDirectory
      ? 'Move it away, and repeat the command.'
      : 'Check that it exists, that it is yours, and that there is space.';
    return { exitCode: EXIT.configuration, code: 'file', message, hint };
  }
  if (isListenError(error)) {
    const message = `Port ${error.port} cannot be used (${error.code}).`;
    const hint = 'End the process that uses it, or choose another one with --port.';
    return { exitCode: EXIT.refused, code: 'port', message, hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.refused, code: 'failed', message };
}

type ListenError = Error & { readonly port: number; readonly code: string };

function isListenError(error: unknown): error is ListenError {
  const isOfListen = error instanceof Error && 'syscall' in error && error.syscall === 'listen';
  return isOfListen && 'port' in error && 'code' in error;
}

/** Refusals of a person, not of a request. */
const OF_PEOPLE: readonly string[] = [
  'account-disabled',
  'e2ee-required',
  'invitation-invalid',
  'key-challenge-disabled',
  'keyless-disabled',
  'not-eligible',
  'provider-required',
  'signup-disabled',
  'signup-provider-disabled',
] satisfies RefusalCode[];

export function isRefusalOfPerson({ code }: Failure): boolean {
  return OF_PEOPLE.includes(code);
}
