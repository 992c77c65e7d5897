import { iosSubtitle } from '../client/notification-platform.js';
import { cleanLine, cleanText } from './clean-text.js';
import type { NotificationEvent, Question, RequestDetails } from './notification-event.js';
import { shortenToBytes } from './shorten.js';
import type { Templates } from './templates.js';

/** The switches that decide how much is told, of the account's push or of one channel. */
export interface ContentSwitches {
  readonly readyIncludeMessageText: boolean;
  readonly requestPreviews: boolean;
}

export interface Content {
  /** At most 256 bytes of UTF-8. */
  readonly title: string;
  /** For iOS; null where there is none. */
  readonly subtitle: string | null;
  /** As long as it is: whoever packs it shortens it to the target's budget. */
  readonly body: string;
  /** Whether the body tells of the event what a person can switch off. */
  readonly isPreview: boolean;
  /** The same text as the body where that is a preview; null where nothing is told. */
  readonly toolDetails: string | null;
  /** At most 256 bytes. */
  readonly sessionTitle: string;
  /** At most 128 bytes; empty in ready events. */
  readonly toolName: string;
}

const TITLE_BYTES = 256;
const TOOL_NAME_BYTES = 128;
const TITLE_OF = {
  ready: 'ready',
  permission_request: 'permissionRequest',
  user_action_request: 'userActionRequest',
} as const;

/** What is said about an event (specification, Events 3 to 5). */
export function contentFor(
  event: NotificationEvent,
  switches: ContentSwitches,
  templates: Templates,
): Content {
  const name = TITLE_OF[event.topic];
  const sessionTitle = cleanLine(event.session.title);
  const title = cleanLine(templates.title[name](sessionTitle));
  const subtitle = iosSubtitle(event.topic, event.request?.toolName ?? null);
  const preview = previewOf(event, switches, templates);
  return {
    title: shortenToBytes(title, TITLE_BYTES),
    subtitle: subtitle === null ? null : shortenToBytes(cleanLine(subtitle), TOOL_NAME_BYTES),
    body: preview ?? cleanText(templates.genericBody[name]),
    isPreview: preview !== null,
    toolDetails: event.request === null ? null : preview,
    sessionTitle: shortenToBytes(sessionTitle, TITLE_BYTES),
    toolName: shortenToBytes(cleanLine(event.request?.toolName ?? ''), TOOL_NAME_BYTES),
  };
}

function previewOf(
  { request, messageText }: NotificationEvent,
  { readyIncludeMessageText, requestPreviews }: ContentSwitches,
  templates: Templates,
): string | null {
  if (request === null) {
    return readyIncludeMessageText ? textOrNull(messageText ?? '') : null;
  }
  return requestPreviews ? textOrNull(describe(request.details, templates)) : null;
}

function describe(details: RequestDetails, templates: Templates): string {
  const { command, filePath, explanation, questions, plan, historyImport, url } = details;
  const lines = [
    command && templates.command(command),
    filePath && templates.filePath(filePath),
    url && templates.url(url),
    details.searchQuery && templates.searchQuery(details.searchQuery),
    historyImport && templates.historyImport(historyImport),
    plan && templates.plan(plan),
    ...questions.map((question) => describeQuestion(question, templates)),
    explanation && templates.explanation(explanation),
  ];
  return lines.filter((line) => line !== null && line !== '').join('\n');
}

function describeQuestion(question: Question, templates: Templates): string {
  const { text, options, allowsSeveral, allowsCustomAnswer } = question;
  const hint = templates.answerHint(allowsSeveral, allowsCustomAnswer);
  return [
    text,
    ...options.map(({ label, description }, index) =>
      templates.option(index + 1, cleanLine(label), description && cleanLine(description)),
    ),
    ...(hint === null ? [] : [hint]),
  ].join('\n');
}

function textOrNull(text: string): string | null {
  const clean = cleanText(text);
  return clean === '' ? null : clean;
}
