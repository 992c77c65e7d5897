import { GatehouseProblem, ServerUnreachable } from '../../client/api/problem.js';
import { formatWait } from './format.js';
import { words } from './words.js';

/** @param error `error` of the return address, for example `access_denied` */
export function returnErrorMessage(error: string): string {
  const { returns, errors } = words;
  return Object.hasOwn(returns, error)
    ? returns[error as keyof typeof returns]
    : errors.refused(error);
}

/** A failed call of the kit, as one or two sentences in the language of the page. */
export function failureMessage(error: unknown): string {
  if (error instanceof GatehouseProblem) {
    return refusalMessage(error);
  }
  if (error instanceof ServerUnreachable) {
    return words.errors.unreachable;
  }
  return kitMessage(error) ?? words.errors.unexpected;
}

function refusalMessage({
  code,
  message,
  provider,
  details = [],
  retryAfterSeconds,
}: GatehouseProblem): string {
  const { refusals, errors } = words;
  const known: Readonly<Record<string, string>> = {
    ...refusals,
    'unexpected-answer': errors.unexpectedAnswer,
  };
  // A newer server may refuse with a code of its own, and explains it itself.
  const sentence = Object.hasOwn(known, code) ? `${known[code]}` : message;
  return [
    sentence.replace('{provider}', provider ?? errors.provider),
    ...details.map((one) => `${one.path} ${one.message}.`),
    ...(retryAfterSeconds === undefined ? [] : [errors.retry(formatWait(retryAfterSeconds))]),
  ].join(' ');
}

type KitError = Error & { readonly reason?: string };

/** By their names: importing the classes would load what encrypts with every visit. */
const KIT_MESSAGES: Readonly<Record<string, (error: KitError) => string>> = {
  ChannelRefused: ({ reason }) => {
    const { channelGone, channelForm, channelInvalid } = words.errors;
    return { 'not-found': channelGone, 'not-a-list': channelForm }[reason ?? ''] ?? channelInvalid;
  },
  NotRegistered: ({ reason }) => {
    const { pushDenied, pushAddress, pushService } = words.errors;
    return { denied: pushDenied, address: pushAddress }[reason ?? ''] ?? pushService;
  },
  ChallengeRefused: () => words.errors.challenge,
  ContentUnreadable: ({ reason }) => {
    const { contentForm, contentText, contentKey } = words.errors;
    return { 'other-form': contentForm, 'not-json': contentText }[reason ?? ''] ?? contentKey;
  },
  DeviceKeyError: ({ reason }) =>
    reason === 'checksum' ? words.errors.keyChecksum : words.errors.keyForm,
  DeviceNotAdded: ({ reason }) => (reason === 'refused' ? words.code.refused : words.code.expired),
  DeviceSealError: () => words.errors.deviceKey,
  OtherAccountKey: () => words.errors.otherKey,
  SettingsConflict: () => words.errors.settingsConflict,
  SettingsUnreadable: ({ cause }) => kitMessage(cause) ?? words.errors.settingsForm,
  WebPushKeyError: () => words.errors.settingsForm,
};

function kitMessage(error: unknown): string | null {
  return error instanceof Error && Object.hasOwn(KIT_MESSAGES, error.name)
    ? (KIT_MESSAGES[error.name]?.(error) ?? null)
    : null;
}

/** Whether only signing in again helps: the session ended, or is too old for this request. */
export function requiresSignIn(error: unknown): error is GatehouseProblem {
  return (
    error instanceof GatehouseProblem &&
    (error.status === 401 ||
      error.code === 'account-disabled' ||
      error.code === 'fresh-login-required')
  );
}
