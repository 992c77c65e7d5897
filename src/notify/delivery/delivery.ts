import type { NotificationTopic } from '../../client/notifications/notification-routing.js';
import type { WebPushKey } from '../../client/notifications/web-push.js';
import type { Content } from '../content/content.js';
import type { PushMessage } from '../push/push-message.js';
import type { WebPushRequest } from '../push/web-push-message.js';

interface DeliveryBase {
  /** The same whenever the same event is planned for the same target; a webhook's `webhook-id`. */
  readonly id: string;
  readonly eventId: string;
  readonly topic: NotificationTopic;
  /** Of the event. Unix milliseconds, as is `expiresAt`: after that nothing is sent any more. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Whether it shows what a person can switch off: message text, or what a request is about. */
  readonly isPreview: boolean;
  readonly sessionId?: string;
  /** null in ready events. */
  readonly requestId?: string | null;
  /** Whether it only replaces what another delivery of the request shows. */
  readonly resolves?: true;
}

export interface PushDelivery extends DeliveryBase {
  readonly kind: 'push';
  readonly token: string;
  readonly message: PushMessage;
  /** What is sent in its place when the push service finds it too large. */
  readonly generic?: Content['generic'];
}

/** To a browser, through the push service of its maker. */
export interface WebPushDelivery extends DeliveryBase {
  readonly kind: 'web-push';
  readonly token: string;
  readonly message: WebPushRequest;
  /** The account's own. */
  readonly key: WebPushKey;
}

export interface WebhookDelivery extends DeliveryBase {
  readonly kind: 'webhook';
  readonly channelId: string;
  readonly url: string;
  /** The exact text that is sent and signed, as UTF-8. */
  readonly body: string;
  /** The signing secret, and during a rotation the one before. Empty = unsigned. */
  readonly secrets: readonly string[];
  /** Whether the answer names the message, which can then be replaced. */
  readonly isReplaceable?: true;
  /** The message that it replaces: `messageId` of the delivery that made it. */
  readonly replaces?: string;
}

/** One thing to send to one target. Plain JSON that holds secrets: store it for its owner's eyes. */
export type Delivery = PushDelivery | WebPushDelivery | WebhookDelivery;

/** Without signing secrets and private keys: they are in the settings, and stay there alone. */
export type StoredDelivery =
  PushDelivery | Omit<WebPushDelivery, 'key'> | Omit<WebhookDelivery, 'secrets'>;

/** What the other side asked for beside its answer; the holder of the settings carries it out. */
export type DeliveryDirective = 'disable-channel' | 'delete-token';

/** How one try went. */
export type AttemptResult =
  | {
      readonly state: 'sent';
      /** Of the push service: ask for the receipt 15 minutes later. */
      readonly receiptId?: string;
      /** Of a chat's message, which `resolve` replaces once the request was answered. */
      readonly messageId?: string;
      readonly directive?: DeliveryDirective;
    }
  | {
      readonly state: 'failed';
      readonly code: string;
      /** For a person; holds no secret and no token. */
      readonly detail: string;
      /** Whether another try may end differently. */
      readonly isTemporary: boolean;
      readonly retryAfterMs?: number;
      readonly directive?: DeliveryDirective;
    };

export type FailedAttempt = Extract<AttemptResult, { state: 'failed' }>;

/** A try that another one would repeat. */
export const lastingFailure = (code: string, detail: string): FailedAttempt => ({
  state: 'failed',
  code,
  detail,
  isTemporary: false,
});

/** What an outcome is about. `id` is the channel's id or the push token; null = all of that kind. */
export interface Target {
  readonly kind: 'push' | 'webhook';
  readonly id: string | null;
}

export type SuppressionReason = 'push-disabled' | 'topic-off' | 'channel-disabled' | 'expired';

/** The outcome of an event at one target: every target has exactly one. */
export type Outcome = { readonly target: Target; readonly deliveryId: string | null } & (
  | ({ readonly attempts: number } & Extract<AttemptResult, { state: 'sent' }>)
  | { readonly state: 'suppressed'; readonly reason: SuppressionReason }
  | ({ readonly attempts: number } & Omit<FailedAttempt, 'isTemporary' | 'retryAfterMs'>)
  /** No push token is saved, or no channel is set up. */
  | { readonly state: 'no-target' }
);

/** The target of a delivery, as outcomes name it. */
export function targetOf(delivery: Delivery | StoredDelivery): Target {
  return delivery.kind === 'webhook'
    ? { kind: 'webhook', id: delivery.channelId }
    : { kind: 'push', id: delivery.token };
}

/** What a result means once no other try follows. */
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
