import type { NotificationEvent } from '../../src/notify/content/notification-event.js';
import { readEvent } from '../../src/notify/content/read-event.js';

export const NOW = 1_760_000_000_000;
export const SERVER_URL = 'https://gate.example';

/** A push token as apps get them. */
export const pushToken = (name: string): string => `ExponentPushToken[${name}]`;

export const saved = (...names: string[]) =>
  names.map((name) => ({ token: pushToken(name), clientServerUrl: null }));

/** An event as a hook would describe it, with what the test is about put in. */
export function anEvent(
  topic: NotificationEvent['topic'],
  fields: Record<string, unknown> = {},
): NotificationEvent {
  return readEvent(
    {
      id: 'evt-1',
      topic,
      serverUrl: SERVER_URL,
      session: { sessionId: 'ses-1', title: 'Fix the build' },
      ...(topic !== 'ready' && { request: aRequest({}) }),
      createdAt: NOW,
      ...fields,
    },
    NOW,
  );
}

export function aRequest(details: Record<string, unknown>, toolName = 'Bash'): object {
  return { requestId: 'req-1', toolName, details };
}

/** Settings with these channels, in the contract's form. */
export function settingsWith(
  channels: readonly Record<string, unknown>[],
  settings: Record<string, unknown> = {},
): object {
  return {
    notificationsSettingsV1: { v: 1, ...settings },
    notificationChannelsV1: channels.map((channel, index) => ({
      v: 1,
      id: `channel-${index + 1}`,
      kind: 'webhook',
      ...channel,
    })),
  };
}
