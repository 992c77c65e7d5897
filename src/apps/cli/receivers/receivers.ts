import type { SavedPushToken } from '../../../packages/client/api/api-client-answers.js';
import type { SettingsAccess } from '../../../packages/client/settings/account-settings.js';
import {
  confirmOwnReceiver,
  confirmReceivers,
  isConfirmedReceiver,
  readReceivers,
} from '../../../packages/client/settings/receivers.js';
import { maskedToken } from '../../../packages/notify/push/push-message.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import { settingsAccess } from '../account/settings-access.js';
import { CliError, refusedError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { isYes, withAnswers } from '../input.js';
import { formatMinute, oneLine } from '../output.js';
import { explainedFor, readSettings } from '../notify/settings-document.js';

type Context = CliContext<{ readonly server?: string }>;

/** A push token, and if senders show text on its device; null where this computer cannot know. */
export interface Receiver extends SavedPushToken {
  readonly showsText: boolean | null;
}

export async function listReceivers(context: Context): Promise<readonly Receiver[]> {
  const current = await requireSession(context);
  const saved = await current.client.pushTokens();
  const receivers = await confirmedIn(context, current);
  return saved.map((one) => ({
    ...one,
    showsText: receivers === undefined ? null : isConfirmedReceiver(receivers, one.token),
  }));
}

/** @returns undefined where this computer cannot read the settings */
async function confirmedIn(context: Context, current: CurrentSession) {
  try {
    return readReceivers((await readSettings(ofServer(context), current)).fields);
  } catch (error) {
    if (error instanceof CliError) {
      return undefined;
    }
    throw error;
  }
}

/** Saves a token, and confirms it where this computer has the key. @returns what to add to the report */
export async function addReceiver(
  context: Context,
  save: (current: CurrentSession) => Promise<void>,
  token: string,
): Promise<string> {
  const current = await requireSession(context);
  await save(current);
  const access = await settingsAccess(current);
  const receivers = await confirmOwnReceiver(current.client, access, token).catch(
    explainedFor(current.session.server),
  );
  const isMissing = receivers !== null && !isConfirmedReceiver(receivers, token);
  const isUnknown = receivers === null && !hasKey(access) && (await isEncrypted(current));
  return isMissing || isUnknown
    ? '\nUntil a device with the key confirms it, its notifications may have no text: gatehouse tokens confirm'
    : '';
}

/** Removes a token. Added again, it has to be confirmed again. */
export async function removeReceiver(context: Context, token: string): Promise<boolean> {
  const current = await requireSession(context);
  const { client, session } = current;
  const isSaved = (await client.pushTokens()).some((saved) => saved.token === token);
  await client.removePushToken(token);
  const access = await settingsAccess(current);
  await confirmReceivers(client, access, []).catch(explainedFor(session.server));
  return isSaved;
}

/** Confirms the named tokens, or those that the person chooses. */
export async function confirm(context: Context): Promise<void> {
  const current = await requireSession(context);
  const { client, session } = current;
  const saved = await listReceivers(context);
  const access = await settingsAccess(current);
  if (!hasKey(access)) {
    throw refusedError(
      'Only a computer with the key of an end-to-end encrypted account confirms devices.',
      'no-device-key',
      'Bring the key of the account here: gatehouse key restore',
    );
  }
  const receivers = readReceivers((await readSettings(ofServer(context), current)).fields);
  const waiting = saved.filter(
    ({ token }) => receivers === null || !isConfirmedReceiver(receivers, token),
  );
  const chosen =
    context.args.length > 0
      ? context.args.map((id) => named(saved, id))
      : await ask(context, waiting);
  const tokens = chosen.map(({ token }) => token);
  const after = await confirmReceivers(client, access, tokens).catch(explainedFor(session.server));
  const rest = saved.filter(({ token }) => !isConfirmedReceiver(after, token)).map(({ id }) => id);
  const text = [
    chosen.length === 0
      ? 'Nothing to confirm.'
      : `Confirmed: ${chosen.map(({ id }) => id).join(', ')}`,
    ...(rest.length === 0 ? [] : [`Notified without text: ${rest.join(', ')}`]),
  ];
  context.output.result(
    { confirmed: chosen.map(({ id }) => id), withoutText: rest },
    text.join('\n'),
  );
}

function named(saved: readonly Receiver[], wanted: string): Receiver {
  const found = saved.find(({ id, token }) => id === wanted || token === wanted);
  if (found === undefined) {
    const hint = 'Run: gatehouse tokens list --fields id,name';
    throw refusedError(`The account has no push token ${wanted}.`, 'not-found', hint);
  }
  return found;
}

/** Asks for each device, because any session of the account can add one under any name. */
function ask({ output }: Context, waiting: readonly Receiver[]): Promise<readonly Receiver[]> {
  return waiting.length === 0
    ? Promise.resolve([])
    : withAnswers(async (next) => {
        const chosen: Receiver[] = [];
        for (const one of waiting) {
          const { name, token, createdAt } = one;
          const added = `added ${formatMinute(createdAt)}`;
          output.note(oneLine(`${name ?? 'unnamed'}  ${maskedToken(token)}  ${added}`));
          output.note('Is this your device, and may it show text? [y/N]');
          if (isYes(await next())) {
            chosen.push(one);
          }
        }
        return chosen;
      });
}

const ofServer = (context: Context) => ({ ...context, options: {} });

const hasKey = (access: SettingsAccess | null): boolean => (access?.content ?? null) !== null;

async function isEncrypted({ client }: CurrentSession): Promise<boolean> {
  return (await client.profile()).encryptionMode === 'e2ee';
}
