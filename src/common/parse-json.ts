/** Returns undefined for an invalid text: the parser's error quotes it, and secrets in it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const JSON_PART = /("(?:[^"\\]|\\.)*")\s*(:)?|[{}]/g;

/** Returns a name that an object of the valid text has twice: the parser uses the last one. */
export function repeatedName(json: string): string | null {
  const open: Set<string>[] = [];
  for (const [part, text, colon] of json.matchAll(JSON_PART)) {
    if (part === '{') {
      open.push(new Set());
    } else if (part === '}') {
      open.pop();
    } else if (text !== undefined && colon !== undefined) {
      const name = JSON.parse(text) as string;
      if (open.at(-1)?.has(name) === true) {
        return name;
      }
      open.at(-1)?.add(name);
    }
  }
  return null;
}

export const MAX_JSON_DEPTH = 64;

/** Judges without parsing: nested arrays cost a hundred times as much time as other text. */
export function isNestedTooDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') {
      at = endOfString(json, at);
    } else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) {
        return true;
      }
    } else if (character === ']' || character === '}') {
      depth -= 1;
    }
  }
  return false;
}

/** @returns the place of the closing quote; the length of the text when there is none */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end)) {
    end = json.indexOf('"', end + 1);
  }
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, quote: number): boolean {
  let first = quote;
  while (json[first - 1] === '\\') {
    first -= 1;
  }
  return (quote - first) % 2 === 1;
}
