import { isNestedTooDeep, parseJson, repeatedName } from './parse-json.js';

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
  return parseJson(json) === undefined || repeatedName(json) !== null;
}
