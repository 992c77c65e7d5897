import { ChallengeRefused } from '../client/login-challenge.js';
import { GatehouseProblem, ServerUnreachable } from '../client/problem.js';

/** What a person is told beside what they see: good news, or what went wrong. */
export interface Notice {
  readonly kind: 'done' | 'problem';
  readonly text: string;
}

export const done = (text: string): Notice => ({ kind: 'done', text });
export const problem = (text: string): Notice => ({ kind: 'problem', text });

/** What the return address says where there is no login to finish (contract, External providers). */
const RETURN_ERRORS: Readonly<Record<string, string>> = {
  access_denied: 'You or the provider refused.',
  not_eligible: 'The provider says who you are, but the rules of this server do not let you in.',
  invalid_state: 'This was used before, or took longer than ten minutes. Begin again.',
  keyless_disabled: 'This server has no accounts without a device key.',
  e2ee_required: 'This server asks for a device key.',
  upstream_error: 'The provider could not be asked. Try again shortly.',
  mtls_required: 'Your browser showed no certificate that this server trusts.',
  restore_required: 'Your account has a device key: sign in with that.',
  account_disabled: 'This account was switched off. Ask whoever runs the server.',
};

/** @param error the server's word for it, `access_denied` say */
export function returnErrorInWords(error: string): string {
  const words = Object.hasOwn(RETURN_ERRORS, error) ? RETURN_ERRORS[error] : undefined;
  return words ?? `This sign-in was refused (${error}).`;
}

/** A failure of a call, as a sentence or two. */
export function failureInWords(error: unknown): string {
  if (error instanceof ServerUnreachable) {
    return 'The server does not answer. Check your connection and try again.';
  }
  if (error instanceof DOMException && error.name === 'NotSupportedError') {
    return 'This browser is too old for device keys. Update it, or use another one.';
  }
  if (error instanceof ChallengeRefused) {
    return error.message;
  }
  if (!(error instanceof GatehouseProblem)) {
    return 'Something went wrong in this page. Reload it and try again.';
  }
  const { message, retryAfterSeconds, details = [] } = error;
  const wait = retryAfterSeconds === undefined ? '' : ` Try again in ${retryAfterSeconds} s.`;
  return [message, ...details.map((one) => `${one.path} ${one.message}.`)].join(' ') + wait;
}

/** Whether the session is over, or too old for what was asked: only signing in again helps. */
export function isSignedOut(error: unknown): error is GatehouseProblem {
  const isOver = ({ status, code }: GatehouseProblem) =>
    status === 401 || code === 'account-disabled' || code === 'fresh-login-required';
  return error instanceof GatehouseProblem && isOver(error);
}

/** A moment of the server's, as people here write it. */
export function dateInWords(milliseconds: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(
    milliseconds,
  );
}
