import type { ContentSwitches } from './content.js';
import type { Delivery, FailedAttempt } from './delivery.js';
import type { SavedToken } from './plan.js';
import type { Preferences, TopicSwitches, WebhookChannel } from './preferences.js';
import type { StoredDelivery } from './spool-entry.js';
import { PRESETS } from './webhook-presets.js';

/** What the account says now. */
export interface CurrentAccount {
  readonly preferences: Preferences;
  readonly tokens: readonly SavedToken[];
}

/**
 * A delivery of an earlier plan as it is to be sent now: with the address and the secrets of today,
 * or not at all, where the person has removed its target or switched off what it tells.
 */
export function renewDelivery(
  delivery: StoredDelivery,
  { preferences: { push, channels }, tokens }: CurrentAccount,
): Delivery | FailedAttempt {
  if (delivery.kind === 'push') {
    const isThere = tokens.some(({ token }) => token === delivery.token);
    if (!isThere || !push.enabled) {
      return isThere ? SWITCHED_OFF : DEVICE_GONE;
    }
    return isWanted(delivery, push) ? delivery : SWITCHED_OFF;
  }
  const channel = channels.find(({ id }) => id === delivery.channelId);
  if (channel?.enabled !== true) {
    return CHANNEL_GONE;
  }
  return isWanted(delivery, channel) ? { ...delivery, ...addressOf(channel) } : SWITCHED_OFF;
}

function isWanted(
  { topic, isPreview }: StoredDelivery,
  switches: ContentSwitches & { readonly topics: TopicSwitches },
): boolean {
  const { topics, readyIncludeMessageText, requestPreviews } = switches;
  const mayTell = topic === 'ready' ? readyIncludeMessageText : requestPreviews;
  return topics[topic] && (mayTell || !isPreview);
}

function addressOf({ preset, url, secrets }: WebhookChannel) {
  return { url: PRESETS[preset].url(url), secrets };
}

const unwanted = (code: string, detail: string): FailedAttempt => ({
  state: 'failed',
  code,
  detail,
  isTemporary: false,
});

const CHANNEL_GONE = unwanted(
  'channel-gone',
  'The channel was removed or disabled in the meantime.',
);
const DEVICE_GONE = unwanted('device-gone', 'The push token was removed in the meantime.');
const SWITCHED_OFF = unwanted(
  'switched-off',
  'It, or what it tells, was switched off in the meantime.',
);
