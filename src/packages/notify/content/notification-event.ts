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

/** The fields of a request that a person needs to judge it (specification, Events 4). */
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
  /** 1 to 128 printable ASCII characters, like all ids: every payload contains them in full. */
  readonly requestId: string;
  readonly toolName: string;
  /** The digest of a sealed request: a device compares it before it answers from the notification. */
  readonly digest?: string | undefined;
  readonly details: RequestDetails;
}

/** An event in a session, of which its account is notified (specification, Events). */
export interface NotificationEvent {
  /** The same for every attempt to send the event: delivery ids are derived from it. */
  readonly id: string;
  readonly topic: NotificationTopic;
  readonly createdAt: number;
  /** The server of the session, as `parseServerUrl` returns it. */
  readonly serverUrl: string;
  readonly session: { readonly sessionId: string; readonly title: string };
  /** null exactly in ready events. */
  readonly request: EventRequest | null;
  /** The last message of the turn; null except in ready events. */
  readonly messageText: string | null;
  /** Sent to webhooks unchanged, regardless of the preferences. At most 2 KiB as JSON. */
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

export type { NotificationTopic };
