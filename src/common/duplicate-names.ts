/** A string, or a character that opens, closes or separates. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs;

/** Parsers differ in which of two values they take: such a token is refused (RFC 7519, 4). */
export function hasDuplicateNames(token: string): boolean {
  return token
    .split('.', 2)
    .map((part) => Buffer.from(part, 'base64url').toString('utf8'))
    .some((json) => !isUnchangedByParsing(json) && repeatsName(json));
}

/** True for the usual compact JSON: a repeated name would be lost in its second writing. */
function isUnchangedByParsing(json: string): boolean {
  return JSON.stringify(JSON.parse(json)) === json;
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
