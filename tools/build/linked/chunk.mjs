/** Where an escape would be read as text, or another character as escaped. */
const NOT_ESCAPABLE = /\bString\.raw`[^`]*[^\0-\x7f]|(?<!\\)(?:\\\\)*\\[^\0-\x7f]/;

/**
 * The text of a CommonJS module as `linked-program.mjs` loads it: wrapped as Node wraps one, which would be a
 * copy of it at each start.
 *
 * @param {string} code
 * @throws as {@link inAscii}
 */
export function asChunk(code) {
  return inAscii(`(function (exports, require, module, __filename, __dirname) {${code}\n})`);
}

/**
 * JavaScript with escapes for all characters beyond ASCII: V8 keeps a text with a single one beyond Latin-1 in
 * two bytes a character, five megabytes more for the programs as long as they run.
 *
 * @param {string} code
 * @throws where an escape would mean something else
 */
export function inAscii(code) {
  const [found] = NOT_ESCAPABLE.exec(code) ?? [];
  if (found !== undefined) {
    throw new Error(`Not to be escaped: ${found}`);
  }
  return code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
