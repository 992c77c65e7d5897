/** An assignment; a text in quotes may have several lines. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*(?:'([^']*)'|"([^"]*)"|([^\n]*))[ \t]*$/;

/** Returns null where a line is no assignment, comment or blank. */
export function readEnvironment(text: string): Readonly<Record<string, string>> | null {
  const variables: Record<string, string> = {};
  const pattern = new RegExp(ASSIGNMENT.source, 'my');
  const blank = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
  const lines = text.replaceAll('\r', '');
  for (let at = 0; at < lines.length;) {
    blank.lastIndex = pattern.lastIndex = at;
    if (blank.test(lines)) {
      at = blank.lastIndex;
      continue;
    }
    const [whole = '', name = '', single, double, plain = ''] = pattern.exec(lines) ?? [];
    if (name === '') {
      return null;
    }
    variables[name] = single ?? double ?? plain.trim();
    at += whole.length + 1;
  }
  return variables;
}

/** Writes an assignment that {@link readEnvironment} and `gatehouse policy plan --file` read. */
export function writeAssignment(name: string, value: string): string {
  const isPlain = /^[\w.,:/@*+-]*$/.test(value);
  // JSON can have its quotes as escapes; other values with a single quote are rare.
  const isJson = /^[[{]/.test(value);
  const quoted = isJson ? `'${value.replaceAll("'", '\\u0027')}'` : quote(value);
  return `${name}=${isPlain ? value : quoted}`;
}

function quote(value: string): string {
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}
