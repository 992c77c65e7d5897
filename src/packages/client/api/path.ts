/**
 * Returns a value as one segment of a path.
 *
 * @param name of the value, for the message
 * @throws TypeError for a value that would select another route, because encoding keeps dots and the
 *   resolution of the address would remove them; for one that is no text, such as the `undefined` of a
 *   misspelled field, and for half of a surrogate pair
 */
export function pathSegment(value: unknown, name = 'A part of the path'): string {
  if (typeof value !== 'string') {
    throw new TypeError(`${name} must be a string`);
  }
  if (/^\.{0,2}$|[\ud800-\udfff]/u.test(value)) {
    throw new TypeError(`${name} cannot be ${JSON.stringify(value)}`);
  }
  return encodeURIComponent(value);
}

/** Returns the path of a template literal, its values as {@link pathSegment}. */
export function pathOf(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => pathSegment(value)));
}
