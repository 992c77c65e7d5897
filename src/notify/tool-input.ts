import { isRecord } from '../client/problem.js';
import type { Question, QuestionOption, RequestDetails } from './notification-event.js';

type Fields = Readonly<Record<string, unknown>>;

/** The names under which programs give each field; the first that holds text counts. */
const NAMES = {
  command: ['command', 'cmd'],
  filePath: ['filePath', 'file_path', 'notebook_path', 'path'],
  explanation: ['explanation', 'description', 'reason', 'justification'],
  plan: ['plan'],
  historyImport: ['historyImport', 'history_import'],
  url: ['url'],
  searchQuery: ['searchQuery', 'search_query', 'query'],
} as const satisfies Record<Exclude<keyof RequestDetails, 'questions'>, readonly string[]>;

const MOST_QUESTIONS = 20;
const MOST_OPTIONS = 50;

/**
 * The supported fields of a tool's input, in whichever spelling; everything else is left out, so
 * that no raw input is ever sent (specification, Events 4). Never fails: what cannot be read is not
 * there.
 */
export function readRequestDetails(input: unknown): RequestDetails {
  const fields = isRecord(input) ? input : {};
  const text = (name: keyof typeof NAMES) => textUnder(fields, NAMES[name]);
  return {
    command: text('command') ?? commandLine(fields['command']),
    filePath: text('filePath'),
    explanation: text('explanation'),
    questions: questionsIn(fields),
    plan: text('plan'),
    historyImport: text('historyImport'),
    url: text('url'),
    searchQuery: text('searchQuery'),
  };
}

/** A command given as a list of arguments. */
function commandLine(value: unknown): string | null {
  const isList = Array.isArray(value) && value.every((part) => typeof part === 'string');
  return isList && value.length > 0 ? value.join(' ') : null;
}

function questionsIn(fields: Fields): Question[] {
  const list: unknown[] = Array.isArray(fields['questions']) ? fields['questions'] : [fields];
  return list.slice(0, MOST_QUESTIONS).flatMap((entry) => {
    const question = isRecord(entry) ? questionIn(entry) : null;
    return question === null ? [] : [question];
  });
}

function questionIn(fields: Fields): Question | null {
  const text = textUnder(fields, ['question', 'text']);
  if (text === null) {
    return null;
  }
  const options: unknown[] = Array.isArray(fields['options']) ? fields['options'] : [];
  return {
    text,
    options: options.slice(0, MOST_OPTIONS).flatMap(optionIn),
    allowsSeveral: isOn(fields, ['allowsSeveral', 'multiSelect', 'multiple']),
    allowsCustomAnswer: isOn(fields, ['allowsCustomAnswer', 'allowCustom', 'custom']),
  };
}

function optionIn(entry: unknown): QuestionOption[] {
  if (typeof entry === 'string' && entry !== '') {
    return [{ label: entry, description: null }];
  }
  const label = isRecord(entry) ? textUnder(entry, ['label', 'value']) : null;
  const description = isRecord(entry) ? textUnder(entry, ['description']) : null;
  return label === null ? [] : [{ label, description }];
}

function textUnder(fields: Fields, names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string' && value.trim() !== '') {
      return value;
    }
  }
  return null;
}

function isOn(fields: Fields, names: readonly string[]): boolean {
  return names.some((name) => fields[name] === true);
}
