import type { NotificationTopic } from '../../client/notifications/notification-routing.js';
import type { WebPushKey } from '../../client/notifications/web-push.js';
import type { Content } from '../content/content.js';
import type { PushMessage } from '../push/push-message.js';
import type { WebPushRequest } from '../push/web-push-message.js';

interface DeliveryBase {
  /** The same for each plan of the same event and target; a webhook's `webhook-id`. */
  readonly id: string;
  readonly eventId: string;
  readonly topic: NotificationTopic;
  /** Unix milliseconds. Nothing is sent after `expiresAt`. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** True if it shows text that the account can disable: message text or details of a request. */
  readonly isPreview: boolean;
  readonly sessionId?: string;
  /** null in ready events. */
  readonly requestId?: string | null;
  /** True if it only replaces the notification of an answered request. */
  readonly resolves?: true;
}

export interface PushDelivery extends DeliveryBase {
  readonly kind: 'push';
  readonly token: string;
  readonly message: PushMessage;
  /** Replaces a text that the push service refuses as too large. */
  readonly generic?: Content['generic'];
}

/** A message to a browser, through the push service of its maker. */
export interface WebPushDelivery extends DeliveryBase {
  readonly kind: 'web-push';
  readonly token: string;
  readonly message: WebPushRequest;
  /** The account's key. */
  readonly key: WebPushKey;
}

export interface WebhookDelivery extends DeliveryBase {
  readonly kind: 'webhook';
  readonly channelId: string;
  readonly url: string;
  /** The exact text that is sent and signed, as UTF-8. */
  readonly body: string;
  /** The current signing secret, and the previous one during a rotation. Empty = unsigned. */
  readonly secrets: readonly string[];
  /** True if the answer contains a message id, with which the message can be replaced. */
  readonly isReplaceable?: true;
  /** The `messageId` of the delivery that it replaces. */
  readonly replaces?: string;
}

/** One message to one target, with secrets: store it so that only its owner can read it. */
export type Delivery = PushDelivery | WebPushDelivery | WebhookDelivery;

/** Signing secrets and private keys stay in the settings. */
export type StoredDelivery =
  | PushDelivery
  | Omit<WebPushDelivery, 'key'>
  | Omit<WebhookDelivery, 'secrets'>;

/** A request in the receiver's answer, which the owner of the settings carries out. */
export type DeliveryDirective = 'disable-channel' | 'delete-token';

/** The result of one attempt. */
export type AttemptResult =
  | {
      readonly state: 'sent';
      /** The push service's id of the receipt, which is available 15 minutes later. */
      readonly receiptId?: string;
      /** The id of a chat message, which `resolve` can replace. */
      readonly messageId?: string;
      readonly directive?: DeliveryDirective;
    }
  | {
      readonly state: 'failed';
      readonly code: string;
      /** For a person; contains no secret and no token. */
      readonly detail: string;
      /** True if a later attempt may succeed. */
      readonly isTemporary: boolean;
      readonly retryAfterMs?: number;
      readonly directive?: DeliveryDirective;
    };

export type FailedAttempt = Extract<AttemptResult, { state: 'failed' }>;

/** A failure that a retry would repeat. */
export const lastingFailure = (code: string, detail: string): FailedAttempt => ({
  state: 'failed',
  code,
  detail,
  isTemporary: false,
});

/** The last failure of a delivery that is tried again. */
export interface LastError {
  readonly code: string;
  readonly detail: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** The reason why an entry of the spool has ended. `dropped` = discarded before a final failure. */
export interface Ending {
  readonly state: 'sent' | 'failed' | 'dropped';
  /** The code of the failure, for programs; null = sent. */
  readonly code: string | null;
  /** The reason for a person. */
  readonly detail?: string;
  readonly messageId?: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** `id` is the channel's id or the push token; null = all targets of the kind. */
export interface Target {
  readonly kind: 'push' | 'webhook';
  readonly id: string | null;
}

export type SuppressionReason = 'push-disabled' | 'topic-off' | 'channel-disabled' | 'expired';

/** The result of an event at one target; every target has exactly one. */
export type Outcome = { readonly target: Target; readonly deliveryId: string | null } & (
  | ({ readonly attempts: number } & Extract<AttemptResult, { state: 'sent' }>)
  | { readonly state: 'suppressed'; readonly reason: SuppressionReason }
  | ({ readonly attempts: number } & Omit<FailedAttempt, 'isTemporary' | 'retryAfterMs'>)
  /** No push token is saved, or no channel exists. */
  | { readonly state: 'no-target' }
);

export function targetOf(delivery: Delivery | StoredDelivery): Target {
  return delivery.kind === 'webhook'
    ? { kind: 'webhook', id: delivery.channelId }
    : { kind: 'push', id: delivery.token };
}

/** Returns the outcome after the last attempt. */
export function outcomeOf(delivery: Delivery, result: AttemptResult, attempts: number): Outcome {
  const { directive } = result;
  const rest = {
    target: targetOf(delivery),
    deliveryId: delivery.id,
    attempts,
    ...(directive !== undefined && { directive }),
  };
  if (result.state === 'failed') {
    const { state, code, detail } = result;
    return { state, code, detail, ...rest };
  }
  const { state, receiptId, messageId } = result;
  return {
    state,
    ...(receiptId !== undefined && { receiptId }),
    ...(messageId !== undefined && { messageId }),
    ...rest,
  };
}

/** Removes the text from a delivery to a receiver that is no longer confirmed. */
export function withoutText<Sent extends PushDelivery | Omit<WebPushDelivery, 'key'>>(
  delivery: Sent,
): Sent {
  if (delivery.kind === 'push') {
    return { ...delivery, ...genericDelivery(delivery) };
  }
  const { message } = delivery;
  return { ...delivery, message: { ...message, text: message.generic }, isPreview: false };
}

/** Keeps only the data of a tap, for a push refused as too large. null = generic already. */
export function genericDelivery(delivery: PushDelivery): PushDelivery | null {
  const { generic, ...rest } = delivery;
  if (generic === undefined) {
    return null;
  }
  const message = { ...delivery.message, ...generic, subtitle: undefined };
  return { ...rest, message, isPreview: false };
}
