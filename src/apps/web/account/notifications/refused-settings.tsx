import { useEffect, useState } from 'preact/hooks';
import type {
  SettingsFields,
  SettingsRefusal,
} from '../../../../packages/client/settings/account-settings.js';
import { readPreferences } from '../../../../packages/notify/preferences.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { Button } from '../../ui/button.js';
import { NoticeLine, useNotedAction } from '../../ui/notice.js';
import { Section } from '../../ui/section.js';
import type { SectionProps } from '../use-account.js';
import { nameOf } from './channel-row.js';
import type { Settings } from './use-settings.js';

export { loadNotificationMessages as loadTexts } from '../../i18n/notification-messages.js';

interface RefusedSettingsProps extends Pick<SectionProps, 'endSession'> {
  readonly refusal: SettingsRefusal;
  readonly settings: Settings;
}

/** Asks the person before this browser uses settings that it refuses. */
export function RefusedSettings({ refusal, settings, endSession }: RefusedSettingsProps) {
  const [found, show] = useState<SettingsFields | null>(null);
  const { notice, isBusy, run } = useNotedAction(endSession);
  const { refused } = notificationMessages;
  const isOfMode = refusal === 'plain' || refusal === 'encrypted';
  useEffect(() => {
    if (!isOfMode) {
      run(async () => show(await settings.review()));
    }
  }, [isOfMode]);
  return (
    <Section id="refused" title={refused.title} lead={refused[refusal]}>
      <p>{isOfMode ? refused.modeCause : refused.cause}</p>
      {found !== null && <Found fields={found} />}
      <NoticeLine notice={notice} />
      <Button
        disabled={isBusy || (!isOfMode && found === null)}
        onClick={() => run(settings.confirm)}
        text={isOfMode ? refused.confirmMode : refused.accept}
      />
    </Section>
  );
}

function Found({ fields }: { readonly fields: SettingsFields }) {
  const { refused, webhooks } = notificationMessages;
  const { channels, receivers } = readPreferences(fields);
  return (
    <>
      {/* Without the list, a device that a stolen session added would read along. */}
      <p>{receivers === null ? refused.allShowText : refused.confirmed(receivers.size)}</p>
      <p>{channels.length === 0 ? refused.noWebhooks : refused.webhooks}</p>
      <ul>
        {channels.map((channel) => (
          <li key={channel.id}>
            {nameOf(channel)} {!channel.enabled && <span class="badge">{webhooks.isOff}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
