import { isNestedTooDeep, parseJson } from './parse-json.js';

/** A string, or a character that opens, closes or separates. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs;

/**
 * Returns true for a token that parsers read differently, which is refused (RFC 7519, 4): one of two values
 * of a name, a byte order mark in front, or more levels than some can read.
 */
export function isAmbiguousJwt(token: string): boolean {
  return token
    .split('.', 2)
    .map((part) => Buffer.from(part, 'base64url').toString('utf8'))
    .some((json) => isNestedTooDeep(json) || (!isUnchangedByParsing(json) && isAmbiguous(json)));
}

/** True for the usual compact JSON: a repeated name would be lost in its second writing. */
function isUnchangedByParsing(json: string): boolean {
  return JSON.stringify(parseJson(json)) === json;
}

function isAmbiguous(json: string): boolean {
  return parseJson(json) === undefined || repeatsName(json);
}

/** @param json a valid JSON text */
function repeatsName(json: string): boolean {
  const objects: (Set<string> | null)[] = [];
  for (const { 0: token, index } of json.matchAll(TOKENS)) {
    if (token === '{' || token === '[') {
      objects.push(token === '{' ? new Set() : null);
    } else if (token === '}' || token === ']') {
      objects.pop();
    } else if (token !== ',' && /^\s*:/.test(json.slice(index + token.length))) {
      const name = JSON.parse(token) as string;
      const names = objects.at(-1);
      if (names?.has(name) === true) {
        return true;
      }
      names?.add(name);
    }
  }
  return false;
}
