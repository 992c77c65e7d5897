import {
  whyNotAllowed,
  type AgentRequest,
  type AskedQuestion,
  type NotAllowed,
} from '../../../core/protocol/agent-request.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import { FIELD_LABELS, type FieldLabel } from './field-labels.js';
import { markLine, markText, textOfLine, type MarkedLine } from './marked-text.js';

export type { FieldLabel };

export interface ShownField {
  readonly label: FieldLabel;
  /** The name of an input of the tool, or the label of an option. */
  readonly name: MarkedLine | null;
  /** True for words of the agent, which may be untrue: show them as such. */
  readonly saysTheAgent: boolean;
  readonly lines: readonly MarkedLine[];
}

/** A request as it is shown to the person who decides: the part that acts comes first. */
export interface ShownRequest {
  readonly kind: AgentRequest['kind'];
  readonly fields: readonly ShownField[];
  /** False where only a denial counts. */
  readonly canAllow: boolean;
  /** The reason why only a denial counts: the input is too long, or the agent takes no allow. */
  readonly whyNotAllowed: NotAllowed | null;
}

/** Names of inputs in which an agent explains itself. */
const EXPLANATIONS: readonly string[] = ['description', 'explanation', 'justification', 'reason'];

/**
 * Returns the fields of a request in the order in which they are shown. The text of each is unstyled:
 * show it with all of its lines, wrapped.
 */
export function showRequest(request: AgentRequest): ShownRequest {
  const { kind, tool, questions = [], cwd, cwdOf, host, session } = request;
  const acting =
    kind === 'permission' ? inputsOf(tool?.input) : questions.flatMap(fieldsOfQuestion);
  const about: ShownField[] = [
    field(cwdOf === 'session' ? 'sessionDirectory' : 'directory', cwd),
    field('computer', host),
    ...(tool === undefined || tool.name === '' ? [] : [claim('tool', tool.name)]),
    ...(session.title === '' ? [] : [claim('title', session.title)]),
  ];
  const explained = kind === 'permission' ? explanationsOf(tool?.input) : [];
  const reason = whyNotAllowed(request);
  return {
    kind,
    fields: [...acting, ...about, ...explained],
    canAllow: reason === null,
    whyNotAllowed: reason,
  };
}

const NOT_ALLOWED: Readonly<Record<NotAllowed, string>> = {
  'too-long': 'Too long to allow from elsewhere.',
  'deny-only': 'The agent takes a denial only. Allow it at the computer that asks.',
};

/**
 * Returns a request as lines of a terminal.
 *
 * @param columns of the terminal: continued lines are indented, so that none looks like a label
 */
export function textOfRequest(
  { fields, whyNotAllowed: reason, kind }: ShownRequest,
  columns = Infinity,
): string {
  const lines = fields.flatMap(({ label, name, saysTheAgent, lines }) => {
    const says = saysTheAgent ? ', says the agent' : '';
    const shown = name === null ? '' : ` ${textOfLine(name)}`;
    return [
      `${FIELD_LABELS[label]}${shown}${says}:`,
      ...lines.map((line) => `  ${textOfLine(line)}`),
    ];
  });
  const note = reason === null || kind !== 'permission' ? [] : [NOT_ALLOWED[reason]];
  return [...lines.flatMap((line) => wrapped(line, columns)), ...note].join('\n');
}

const CONTINUED = '    ';
/** A narrower terminal could not show a line and its indent. */
const MIN_COLUMNS = 20;

/** Characters outside of ASCII may be two columns wide. */
function wrapped(line: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let text = '';
  let width = 0;
  for (const character of line) {
    const own = /[\x20-\x7e]/.test(character) ? 1 : 2;
    if (width + own > Math.max(columns, MIN_COLUMNS)) {
      lines.push(text);
      [text, width] = [CONTINUED, CONTINUED.length];
    }
    text += character;
    width += own;
  }
  return [...lines, text];
}

/** The first line of what a request is about, for lists, with the number of lines that follow. */
export function summaryOf(request: AgentRequest): string {
  const { fields } = showRequest(request);
  const about = fields.filter(({ label }) => ABOUT.includes(label));
  const [first = [], ...more] = about.flatMap(({ lines }) => lines);
  const mark = more.length === 1 ? '1 more line' : `${more.length} more lines`;
  return textOfLine(more.length === 0 ? first : [...first, ' ', { mark }]);
}

const ABOUT: readonly FieldLabel[] = ['command', 'input', 'question'];

function inputsOf(input: unknown): ShownField[] {
  if (!isRecord(input)) {
    return [field('command', textIn(input))];
  }
  const { command, ...rest } = input;
  const others = Object.entries(rest).filter(([name]) => !EXPLANATIONS.includes(name));
  const shown = others.map(([name, value]) => ({
    ...field('input', textIn(value)),
    name: markLine(name, 'command'),
  }));
  return command === undefined ? shown : [field('command', textIn(command)), ...shown];
}

function explanationsOf(input: unknown): ShownField[] {
  return isRecord(input)
    ? EXPLANATIONS.flatMap((name) =>
        input[name] === undefined ? [] : [claim('description', textIn(input[name]))],
      )
    : [];
}

function fieldsOfQuestion({ text, options }: AskedQuestion): ShownField[] {
  return [
    claim('question', text),
    ...options.map(({ label, description }) => ({
      ...claim('option', description),
      name: markLine(label, 'prose'),
    })),
  ];
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function field(label: FieldLabel, text: string): ShownField {
  return { label, name: null, saysTheAgent: false, lines: markText(text, 'command') };
}

function claim(label: FieldLabel, text: string): ShownField {
  return { label, name: null, saysTheAgent: true, lines: markText(text, 'prose') };
}
