import type { SettingsFields } from '../../../../packages/client/settings/account-settings.js';
import { readPreferences } from '../../../../packages/notify/preferences.js';
import type { AccountActions, SectionProps } from '../use-account.js';
import { BrowserNotifications } from './browser-notifications.js';
import { ConfirmedReceivers } from './confirmed-receivers.js';
import { PushPreferences } from './push-preferences.js';
import type { Settings } from './use-settings.js';
import { Webhooks } from './webhooks.js';

export { loadNotificationMessages as loadTexts } from '../../i18n/notification-messages.js';

interface OpenedSettingsProps extends AccountActions, Pick<SectionProps, 'account' | 'own'> {
  readonly fields: SettingsFields;
  readonly settings: Settings;
}

export function OpenedSettings(props: OpenedSettingsProps) {
  const { account, own, fields, ...actions } = props;
  const part = { preferences: readPreferences(fields), ...actions };
  return (
    <>
      <BrowserNotifications account={account} own={own} {...part} />
      <PushPreferences {...part} />
      <ConfirmedReceivers {...props} />
      <Webhooks {...part} />
    </>
  );
}
