import { GatehouseProblem, ServerUnreachable } from '../../../packages/client/api/problem.js';
import { formatWait } from './format.js';
import { t } from './messages.js';

/** @param error `error` of the return address, for example `access_denied` */
export function returnErrorMessage(error: string): string {
  const { returns, errors } = t;
  return Object.hasOwn(returns, error)
    ? returns[error as keyof typeof returns]
    : errors.refused(error);
}

/**
 * @param nameOf returns the name of a provider. Default: its id
 * @param hasWait false once the time is over after which the server wants to be asked again
 */
export function failureMessage(
  error: unknown,
  nameOf = (id: string) => id,
  hasWait = true,
): string {
  if (error instanceof GatehouseProblem) {
    return refusalMessage(error, nameOf, hasWait);
  }
  if (error instanceof ServerUnreachable) {
    return t.errors.unreachable;
  }
  return kitMessage(error) ?? t.errors.unexpected;
}

function refusalMessage(
  { code, message, status, provider, details = [], retryAfterSeconds }: GatehouseProblem,
  nameOf: (id: string) => string,
  hasWait: boolean,
): string {
  const { refusals, errors } = t;
  const known: Readonly<Record<string, string | undefined>> = {
    ...refusals,
    // A proxy answers for a server that is away.
    'unexpected-answer': status >= 500 ? refusals.unavailable : errors.unexpectedAnswer,
  };
  const name = provider === undefined ? errors.provider : nameOf(provider);
  const own = Object.hasOwn(known, code) ? known[code] : undefined;
  return [
    // The message of the server names the provider by its id.
    own?.replace('{provider}', () => name) ?? message.replace(provider ?? name, () => name),
    ...details.map(detailMessage),
    ...(retryAfterSeconds !== undefined && hasWait
      ? [errors.retry(formatWait(retryAfterSeconds))]
      : []),
  ].join(' ');
}

/** Most messages name the field, and some end with a full stop. */
function detailMessage({ path, message }: ErrorDetail): string {
  const isNamed = message.includes(path.split('.').at(-1) ?? '');
  return `${isNamed ? message : `${path} ${message}`}.`.replace(/\.\.$/, '.');
}

type ErrorDetail = NonNullable<GatehouseProblem['details']>[number];

type KitError = Error & { readonly reason?: string };

/** Compared by name: importing the classes would load the cryptography with every visit. */
const KIT_MESSAGES: Readonly<Record<string, (error: KitError) => string>> = {
  ChannelRefused: ({ reason }) => {
    const { channelGone, channelForm, channelInvalid } = t.errors;
    return { 'not-found': channelGone, 'not-a-list': channelForm }[reason ?? ''] ?? channelInvalid;
  },
  NotRegistered: ({ reason }) => {
    const { pushDenied, pushAddress, pushService } = t.errors;
    return { denied: pushDenied, address: pushAddress }[reason ?? ''] ?? pushService;
  },
  ChallengeRefused: ({ reason }) =>
    reason === 'expired' ? t.errors.challengeClock : t.errors.challenge,
  ContentUnreadable: ({ reason }) => {
    const { contentForm, contentText, contentKey } = t.errors;
    return { 'other-form': contentForm, 'not-json': contentText }[reason ?? ''] ?? contentKey;
  },
  DeviceKeyError: ({ reason }) => (reason === 'checksum' ? t.errors.keyChecksum : t.errors.keyForm),
  DeviceNotAdded: ({ reason }) => (reason === 'refused' ? t.code.refused : t.code.expired),
  DeviceSealError: ({ reason }) => {
    const { deviceKey, deviceOlder, deviceWords, deviceOther } = t.errors;
    const known = {
      'invalid-key': deviceKey,
      'invalid-link': t.add.damaged,
      'other-key': t.add.otherKey,
      'older-approver': deviceOlder,
      'words-differ': deviceWords,
    };
    return known[reason as keyof typeof known] ?? deviceOther;
  },
  DeviceServerRefused: ({ reason }) =>
    reason === 'older-server' ? t.errors.deviceServerOlder : t.errors.deviceServerOther,
  PasskeyProblem: ({ reason }) => {
    const { passkeyCancelled, passkeyUnsuitable, passkeyDamaged } = t.errors;
    return (
      { cancelled: passkeyCancelled, unsuitable: passkeyUnsuitable }[reason ?? ''] ?? passkeyDamaged
    );
  },
  OtherAccountKey: () => t.errors.otherKey,
  SettingsConflict: () => t.errors.settingsConflict,
  SettingsRefused: () => t.errors.settingsRefused,
  SettingsUnreadable: ({ cause }) => kitMessage(cause) ?? t.errors.settingsForm,
  WebPushKeyError: () => t.errors.settingsForm,
};

function kitMessage(error: unknown): string | null {
  return error instanceof Error && Object.hasOwn(KIT_MESSAGES, error.name)
    ? (KIT_MESSAGES[error.name]?.(error) ?? null)
    : null;
}

/** Returns true if the session has ended, or is too old for this request. */
export function requiresSignIn(error: unknown): error is GatehouseProblem {
  return (
    error instanceof GatehouseProblem &&
    (error.status === 401 ||
      error.code === 'account-disabled' ||
      error.code === 'fresh-login-required')
  );
}
