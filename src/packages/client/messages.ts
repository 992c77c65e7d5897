import { GatehouseProblem, ServerUnreachable } from './api/problem.js';

/** Messages by `error` of the return address (contract, External providers). */
const RETURN_ERRORS: Readonly<Record<string, string>> = {
  access_denied: 'You or the provider denied the request.',
  not_eligible: 'The provider identified you, but the policy of this server does not admit you.',
  invalid_state: 'This sign-in was already used, or it expired after ten minutes. Start again.',
  keyless_disabled: 'This server has no accounts without a device key.',
  e2ee_required: 'This server requires a device key.',
  upstream_error: 'The provider is not available. Try again shortly.',
  mtls_required: 'Your browser sent no certificate that this server trusts.',
  restore_required: 'Your account has a device key: sign in with it.',
  account_disabled: 'This account is disabled. Contact the operator of this server.',
};

/** @param error `error` of the return address, for example `access_denied` */
export function returnErrorMessage(error: string): string {
  const message = Object.hasOwn(RETURN_ERRORS, error) ? RETURN_ERRORS[error] : undefined;
  return message ?? `This sign-in was refused (${error}).`;
}

/** Compared by name, because importing the classes would load the cryptography. */
const OWN_ERRORS = [
  'ChallengeRefused',
  'ContentUnreadable',
  'DeviceKeyError',
  'DeviceSealError',
  'DeviceServerRefused',
  'OtherAccountKey',
  'SettingsConflict',
  'SettingsRefused',
  'SettingsUnreadable',
  'WebPushKeyError',
];

/** Describes a failed call of the kit in one or two sentences. */
export function failureMessage(error: unknown): string {
  if (error instanceof ServerUnreachable) {
    return 'The server does not answer. Check your connection and try again.';
  }
  if (error instanceof Error && OWN_ERRORS.includes(error.name)) {
    return error.message;
  }
  if (!(error instanceof GatehouseProblem)) {
    return 'An unexpected error occurred in this page. Reload it and try again.';
  }
  const { message, retryAfterSeconds, details = [] } = error;
  const wait = retryAfterSeconds === undefined ? '' : ` Try again in ${retryAfterSeconds} s.`;
  return [message, ...details.map((one) => `${one.path} ${one.message}.`)].join(' ') + wait;
}
