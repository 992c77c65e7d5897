import type { SettingsFields } from '../../../../packages/client/settings/account-settings.js';
import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import type { Notify } from '../../ui/notice.js';
import type { AccountActions } from '../use-account.js';

export type Save = (
  change: (fields: SettingsFields) => SettingsFields,
  /** The message of the notice. */
  outcome: 'added' | 'changed' | 'removed' | 'unsigned',
) => Promise<void>;

export interface ChannelRowProps extends Pick<AccountActions, 'endSession'> {
  readonly channel: WebhookChannel;
  readonly save: Save;
  readonly show: Notify;
}
