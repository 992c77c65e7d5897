import type { NotificationTopic } from '../../client/notifications/notification-routing.js';

export interface QuestionOption {
  readonly label: string;
  readonly description: string | null;
}

export interface Question {
  readonly text: string;
  readonly options: readonly QuestionOption[];
  readonly allowsSeveral: boolean;
  readonly allowsCustomAnswer: boolean;
}

/** What a request is about, in the fields a person can judge it by (specification, Events 4). */
export interface RequestDetails {
  readonly command: string | null;
  readonly filePath: string | null;
  readonly explanation: string | null;
  readonly questions: readonly Question[];
  readonly plan: string | null;
  readonly historyImport: string | null;
  readonly url: string | null;
  readonly searchQuery: string | null;
}

export interface EventRequest {
  /** 1 to 128 printable ASCII characters, as are all ids: they travel whole in every payload. */
  readonly requestId: string;
  readonly toolName: string;
  readonly details: RequestDetails;
}

/** Something in a session that its account is notified of (specification, Events). */
export interface NotificationEvent {
  /** The same for the same event, however often it is sent: deliveries take their ids from it. */
  readonly id: string;
  readonly topic: NotificationTopic;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** The server the session belongs to, as `parseServerUrl` returns it. */
  readonly serverUrl: string;
  readonly session: { readonly sessionId: string; readonly title: string };
  /** null exactly in ready events. */
  readonly request: EventRequest | null;
  /** The last message of the turn; only ready events have one. */
  readonly messageText: string | null;
  /** Sent to webhooks as it is, whatever the preferences say. At most 2 KiB as JSON. */
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

export type { NotificationTopic };
