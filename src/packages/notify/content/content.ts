import { iosSubtitle } from '../../client/notifications/notification-display.js';
import { GENERIC_BODY, PERMISSION_TEXT } from '../../client/notifications/notification-text.js';
import { MASK, cleanLine, cleanText, shortenToBytes } from './text.js';
import type { NotificationEvent, Question, RequestDetails } from './notification-event.js';

/**
 * All fixed text of notifications. Pass another object of this type to send in another language;
 * its results are cleaned and shortened like the default text.
 */
export interface Templates {
  readonly title: {
    readonly ready: (session: string) => string;
    readonly permissionRequest: (session: string) => string;
    readonly userActionRequest: (session: string) => string;
  };
  /** Bodies without details, for disabled previews and for events without text. */
  readonly genericBody: {
    readonly ready: string;
    readonly permissionRequest: string;
    readonly userActionRequest: string;
  };
  /** Body with details: the request and its tool; empty where that is unknown. */
  readonly sentence: {
    readonly permissionRequest: (tool: string, subject: string) => string;
    readonly userActionRequest: (tool: string, subject: string) => string;
  };
  /** Body where the tool is known and none of its input can be shown. */
  readonly toolAlone: {
    readonly permissionRequest: (tool: string) => string;
    readonly userActionRequest: (tool: string) => string;
  };
  /** Replaces the text of a request that was answered. */
  readonly resolved: { readonly title: string; readonly body: string };
  readonly command: (command: string) => string;
  readonly filePath: (path: string) => string;
  readonly explanation: (text: string) => string;
  readonly option: (position: number, label: string, description: string | null) => string;
  readonly answerHint: (allowsSeveral: boolean, allowsCustomAnswer: boolean) => string | null;
  readonly plan: (plan: string) => string;
  readonly historyImport: (explanation: string) => string;
  readonly url: (url: string) => string;
  readonly searchQuery: (query: string) => string;
}

const titled = (words: string) => (session: string) =>
  session === '' ? words : `${words}: ${session}`;

export const ENGLISH: Templates = {
  title: {
    ready: titled('Ready'),
    permissionRequest: PERMISSION_TEXT.title,
    userActionRequest: titled('Answer needed'),
  },
  genericBody: {
    ready: 'The turn is finished. It is waiting for you.',
    permissionRequest: GENERIC_BODY.permission_request,
    userActionRequest: GENERIC_BODY.user_action_request,
  },
  sentence: {
    permissionRequest: PERMISSION_TEXT.sentence,
    userActionRequest: (tool, subject) =>
      tool === '' ? `Answer needed: ${subject}` : `${tool} needs your answer: ${subject}`,
  },
  toolAlone: {
    permissionRequest: (tool) => `${tool} needs your permission to go on.`,
    userActionRequest: (tool) => `${tool} is waiting for your answer.`,
  },
  resolved: { title: 'Answered', body: 'This request is not waiting any more.' },
  command: (command) => `Command: ${command}`,
  filePath: (path) => `File: ${path}`,
  explanation: PERMISSION_TEXT.explanation,
  option: (position, label, description) =>
    description === null ? `${position}. ${label}` : `${position}. ${label} – ${description}`,
  answerHint: (allowsSeveral, allowsCustomAnswer) => {
    const hints = [
      ...(allowsSeveral ? ['You may choose several.'] : []),
      ...(allowsCustomAnswer ? ['You may answer in your own words.'] : []),
    ];
    return hints.length === 0 ? null : hints.join(' ');
  },
  plan: (plan) => `Plan to approve:\n${plan}`,
  historyImport: (explanation) => `Import of history: ${explanation}`,
  url: (url) => `Address: ${url}`,
  searchQuery: (query) => `Search for: ${query}`,
};

/** Switches for the amount of detail, of the account's push or of one channel. */
export interface ContentSwitches {
  readonly readyIncludeMessageText: boolean;
  readonly requestPreviews: boolean;
}

export interface Content {
  /** At most 256 bytes of UTF-8. */
  readonly title: string;
  /** For iOS; null = none. */
  readonly subtitle: string | null;
  /** The full sentence, which the sender shortens to the target's budget. */
  readonly body: string;
  /** True if the body shows text that a person can disable. */
  readonly isPreview: boolean;
  /** The same text without parts that a switch hides or that vary in length. */
  readonly generic: { readonly title: string; readonly body: string };
  /** The tool's formatted input, in full; null where previews are disabled or there is none. */
  readonly toolDetails: string | null;
  /** At most 256 bytes. */
  readonly sessionTitle: string;
  /** At most 128 bytes; empty in ready events. */
  readonly toolName: string;
  readonly metadata: NotificationEvent['metadata'];
}

const TITLE_BYTES = 256;
const TOOL_NAME_BYTES = 128;
const TITLE_OF = {
  ready: 'ready',
  permission_request: 'permissionRequest',
  user_action_request: 'userActionRequest',
} as const;

/**
 * @param mask replaces passwords and tokens: `maskShownSecrets`, or {@link unmasked}; `acts` is true for
 *   what a person permits
 */
export function contentFor(
  event: NotificationEvent,
  switches: ContentSwitches,
  templates: Templates,
  mask: (text: string, acts?: boolean) => string,
): Content {
  const name = TITLE_OF[event.topic];
  const sessionTitle = mask(cleanLine(event.session.title));
  const title = cleanLine(templates.title[name](sessionTitle));
  const tool = mask(cleanLine(event.request?.toolName ?? ''));
  const subtitle = iosSubtitle(event.topic, tool);
  const toolName = shortenToBytes(tool, TOOL_NAME_BYTES);
  // Masked as a whole, and before it is shortened: half a secret is not recognised.
  const generic = {
    title: shortenToBytes(cleanLine(templates.title[name]('')), TITLE_BYTES),
    body: cleanText(templates.genericBody[name]),
  };
  const acts = event.topic === 'permission_request';
  const { preview, toolDetails } = previewOf(event, toolName, switches, templates);
  return {
    title: shortenToBytes(title, TITLE_BYTES),
    subtitle: subtitle === null ? null : shortenToBytes(cleanLine(subtitle), TOOL_NAME_BYTES),
    body: preview === null ? generic.body : mask(preview, acts),
    generic,
    isPreview: preview !== null,
    toolDetails: toolDetails === null ? null : mask(toolDetails, acts),
    sessionTitle: shortenToBytes(sessionTitle, TITLE_BYTES),
    toolName,
    metadata: Object.fromEntries(
      Object.entries(event.metadata).map(([name, value]) => [name, maskedValue(name, value, mask)]),
    ),
  };
}

/** A secret is recognised by its form or by its name. */
function maskedValue<Value>(name: string, value: Value, mask: (text: string) => string) {
  if (typeof value !== 'string') {
    return value;
  }
  const isNamed = mask(`${name}="x1"`) !== `${name}="x1"`;
  return isNamed && value !== '' ? MASK : mask(value);
}

export const unmasked = (text: string): string => text;

interface Preview {
  readonly preview: string | null;
  readonly toolDetails: string | null;
}

function previewOf(
  { topic, request, messageText }: NotificationEvent,
  toolName: string,
  { readyIncludeMessageText, requestPreviews }: ContentSwitches,
  templates: Templates,
): Preview {
  if (request === null || topic === 'ready') {
    const preview = readyIncludeMessageText ? textOrNull(messageText ?? '') : null;
    return { preview, toolDetails: null };
  }
  const details = requestPreviews ? detailsOf(request.details, templates) : [];
  const [first, ...rest] = details;
  if (first === undefined) {
    const alone = requestPreviews && toolName !== '';
    const preview = alone ? templates.toolAlone[TITLE_OF[topic]](toolName) : null;
    return { preview, toolDetails: null };
  }
  const sentence = templates.sentence[TITLE_OF[topic]](toolName, first.text);
  return {
    preview: textOrNull([sentence, ...rest.map(({ line }) => line)].join('\n')),
    toolDetails: textOrNull(details.map(({ line }) => line).join('\n')),
  };
}

/** One supported field of a tool's input, as a value and with its name. */
interface Detail {
  readonly text: string;
  readonly line: string;
}

function detailsOf(details: RequestDetails, templates: Templates): Detail[] {
  const fields = ['command', 'filePath', 'url', 'searchQuery', 'historyImport', 'plan'] as const;
  const detail = (name: (typeof fields)[number] | 'explanation'): Detail[] => {
    const text = details[name] ?? '';
    return text === '' ? [] : [{ text, line: templates[name](text) }];
  };
  const questions = details.questions.map((question) => {
    const text = describeQuestion(question, templates);
    return { text, line: text };
  });
  return [...fields.flatMap(detail), ...questions, ...detail('explanation')];
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
