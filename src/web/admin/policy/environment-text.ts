/**
 * Variables as files for `env` write them: `NAME=value`, one a line, with comments and blank lines, an
 * `export` in front and quotes around a value where they are.
 *
 * @returns null where a line is none of these
 */
export function readEnvironment(text: string): Readonly<Record<string, string>> | null {
  const variables: Record<string, string> = {};
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) {
      continue;
    }
    const [, name, value = ''] = /^(?:export\s+)?(\w+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) {
      return null;
    }
    variables[name] = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  }
  return variables;
}
