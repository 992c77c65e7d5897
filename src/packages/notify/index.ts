export { nextAttemptAt, RETRY_DELAYS_MS } from './delivery/attempt.js';
export type { RetrySchedule, Senders } from './delivery/attempt.js';
export { genericDelivery, outcomeOf } from './delivery/delivery.js';
export type * from './delivery/delivery.js';
export { ExpoSender, type ExpoSenderOptions } from './push/expo.sender.js';
export type * from './content/notification-event.js';
export { deliver, notify, resolve } from './notify.js';
export type {
  DeliverOptions,
  Notified,
  NotifiedAccount,
  NotifyOptions,
  ResolveOptions,
} from './notify.js';
export { outcomesWithoutSettings, planNotification } from './delivery/plan.js';
export type { Plan, PlanOptions, SavedToken } from './delivery/plan.js';
export { readPreferences } from './preferences.js';
export type { BrokenChannel, Preferences, WebhookChannel } from './preferences.js';
export {
  openSettings,
  readSettings,
  SettingsRefused,
  SettingsUnreadable,
} from '../client/settings/account-settings.js';
export type {
  Decrypt,
  SettingsAccess,
  SettingsContent,
  SettingsKey,
  SettingsRefusal,
} from '../client/settings/account-settings.js';
export type { AccountPin, PinStore } from '../client/settings/account-pin.js';
export { isTooBig, RECEIPT_AFTER_MS, RECEIPT_LOST_AFTER_MS } from './push/push-results.js';
export type { ReceiptResult, SentTicket } from './push/push-results.js';
export { isPushToken, maskedToken } from './push/push-message.js';
export { WebPushSender, type WebPushSenderOptions } from './push/web-push.sender.js';
export { InvalidEvent, readEvent, readRequestDetails } from './content/read-event.js';
export type { InputProblem } from './content/read-event.js';
export { ENGLISH, type Templates } from './content/content.js';
export { WEBHOOK_PRESETS, type WebhookPreset } from './webhook/webhook-request.js';
export { WebhookSender, type WebhookSenderOptions } from './webhook/webhook.sender.js';
