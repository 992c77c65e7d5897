import type { Variable } from './variable.js';

const TRUE_WORDS = ['true', '1', 'yes', 'on'];
const FALSE_WORDS = ['false', '0', 'no', 'off'];

/**
 * Turns the text of a variable into its type. Text that does not fit is returned as it is, so that
 * validation refuses it with the variable's own message.
 */
export function parseVariable(variable: Variable, text: string): unknown {
  const exact = variable.secret === true && variable.type === 'string';
  const trimmed = exact ? text : text.trim();
  switch (variable.type) {
    case 'boolean':
      return parseBoolean(trimmed);
    case 'integer':
      return /^[+-]?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
    case 'enum':
      return trimmed.toLowerCase();
    case 'csv':
      return parseList(trimmed, variable.lowerCase === true);
    case 'cidrs':
      return parseList(trimmed, true);
    case 'url':
    case 'string':
    case 'path':
    case 'json':
      return trimmed;
  }
}

/**
 * Splits a comma-separated list; an item that holds a comma is put in double quotes, as
 * distinguished names are. Empty items are dropped. An unclosed quote gives null.
 */
export function splitList(text: string): string[] | null {
  const item = /\s*(?:"([^"]*)"\s*|([^",]*))(,|$)/y;
  const items: string[] = [];
  while (item.lastIndex < text.length) {
    const match = item.exec(text);
    if (match === null) {
      return null;
    }
    items.push((match[1] ?? match[2] ?? '').trim());
  }
  return items.filter((value) => value !== '');
}

function parseBoolean(text: string): unknown {
  const word = text.toLowerCase();
  if (TRUE_WORDS.includes(word)) {
    return true;
  }
  return FALSE_WORDS.includes(word) ? false : text;
}

function parseList(text: string, lowerCase: boolean): unknown {
  const items = splitList(lowerCase ? text.toLowerCase() : text);
  return items === null ? text : [...new Set(items)];
}
