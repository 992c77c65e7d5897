import type { SettingsFields } from '../../../packages/client/settings/account-settings.js';
import { readPreferences } from '../../../packages/notify/preferences.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import { refusedError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { readYes } from '../input.js';
import { acceptSettings, isRefused, readSettings } from './settings-document.js';

type Context = CliContext<{ readonly server?: string; readonly yes?: boolean }>;

/** Accepts settings that this computer refuses as older or others, once the person confirmed them. */
export async function accept(context: Context): Promise<void> {
  const current = await requireSession(context);
  const { server } = current.session;
  const refusal = await refusalOf(context, current);
  if (refusal === null) {
    context.output.result({ server, accepted: false }, 'There is nothing to accept.');
    return;
  }
  context.output.note(refusal);
  const accepted = await acceptSettings(current, (fields) => confirm(context, fields));
  if (accepted === null) {
    throw refusedError('The settings were not accepted.', 'not-confirmed');
  }
  context.output.result({ server, accepted: true }, 'Accepted. This computer uses them now.');
}

async function refusalOf(context: Context, current: CurrentSession): Promise<string | null> {
  try {
    await readSettings({ ...context, options: {} }, current);
    return null;
  } catch (error) {
    if (isRefused(error)) {
      return error.message;
    }
    throw error;
  }
}

async function confirm({ options, output }: Context, fields: SettingsFields): Promise<boolean> {
  const { push, channels } = readPreferences(fields);
  const preview = push.requestPreviews ? 'on' : 'off';
  output.note(`Push is ${push.enabled ? 'on' : 'off'}, and request previews are ${preview}.`);
  const lines = channels.map(
    ({ id, enabled, url }) => `  ${id}  ${enabled ? 'on' : 'off'}  ${new URL(url).origin}`,
  );
  output.note(lines.length === 0 ? 'There are no webhooks.' : `Webhooks:\n${lines.join('\n')}`);
  if (options.yes === true) {
    return true;
  }
  output.note('Use these settings? [y/N]');
  return readYes();
}
