import { isRecord } from '../../../core/protocol/is-record.js';
import type { NotificationTarget } from '../notifications/notification-routing.js';
import {
  EXPLANATION_NAMES,
  textOfCommandRequest,
  type NotificationText,
} from '../notifications/notification-text.js';
import type { ShownableRequest } from './answer-request.js';
import { showRequest } from './show-request.js';

/** A notification as the system displayed it when its button was pressed. */
export interface DisplayedNotification {
  readonly title: string | null;
  /** null also where the system shows none. */
  readonly subtitle: string | null;
  readonly body: string | null;
  /** True if only the person can press the button, as with `isAuthenticationRequired` on iOS. */
  readonly isAuthenticated: boolean;
}

/**
 * The reason why a pressed Allow opens the request, and the person allows it there.
 * `not-authenticated`: anyone who holds the phone could have pressed it. `other-request`: it is not
 * sealed, or not the one of which the device was notified. `not-whole`: the notification cannot show
 * everything that acts. `other-text`: it showed another text, or masked a part.
 */
export type AskedAgain = 'not-authenticated' | 'other-request' | 'not-whole' | 'other-text';

/** A longer line is cut by the system, and the rest is not seen. */
const MAX_COMMAND_CHARACTERS = 100;
/** A name of a tool that neither pushes the command after it out of sight nor reads like another one. */
const PLAIN_NAME = /^[\w.:-]{0,64}$/;
const ACTING = 'command directory computer';
const ACTING_IN_SESSION = 'command sessionDirectory computer';

/** Returns null where the notification showed all of what the person allows. */
export function whyAskedAgain(
  found: ShownableRequest,
  target: NotificationTarget,
  displayed: DisplayedNotification,
): AskedAgain | null {
  if (!found.isSealed || target.digest !== found.digest) {
    return 'other-request';
  }
  const text = wholeText(found);
  if (text === null) {
    return 'not-whole';
  }
  const { title, subtitle, body } = displayed;
  const isSame = title === text.title && body === text.body;
  if (!isSame || (subtitle !== null && subtitle !== text.subtitle)) {
    return 'other-text';
  }
  // The last one: only where all others hold does it help to authenticate the person.
  return displayed.isAuthenticated ? null : 'not-authenticated';
}

/** Returns the text of a request of which only one short command acts, without marked characters. */
function wholeText({ request }: ShownableRequest): NotificationText | null {
  const { fields, canAllow } = showRequest(request);
  const acting = fields.filter(({ saysTheAgent }) => !saysTheAgent);
  const labels = acting.map(({ label }) => label).join(' ');
  const input = request.tool?.input;
  if (!canAllow || (labels !== ACTING && labels !== ACTING_IN_SESSION) || !isRecord(input)) {
    return null;
  }
  const { command } = input;
  const [line = [], ...more] = acting[0]?.lines ?? [];
  const isPlain = line.every((piece) => typeof piece === 'string');
  const isNamed = PLAIN_NAME.test(request.tool?.name ?? '');
  const isWhole = isNamed && more.length === 0 && isPlain && line.join('') === command;
  if (typeof command !== 'string' || !isWhole || command.length > MAX_COMMAND_CHARACTERS) {
    return null;
  }
  const explanations = EXPLANATION_NAMES.map((name) => input[name]).filter(isGiven);
  const [explanation = null, ...hidden] = explanations;
  const isShown = explanation === null || typeof explanation === 'string';
  // A notification shows one explanation, as text; to some tools these inputs are no explanations.
  return !isShown || explanation?.includes('\n') === true || hidden.length > 0
    ? null
    : textOfCommandRequest(request, command, explanation);
}

function isGiven(value: unknown): boolean {
  return typeof value === 'string' ? value.trim() !== '' : (value ?? null) !== null;
}
