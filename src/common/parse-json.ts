/**
 * The value of a JSON text; undefined where it is none. The parser's own error is lost: it quotes the
 * text, and with it secrets.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
