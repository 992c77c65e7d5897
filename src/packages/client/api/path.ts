/**
 * Returns a value as one segment of a path.
 *
 * @param name of the value, for the message
 * @throws TypeError for a value that would select another route: encoding keeps dots, and the
 *   resolution of the address would remove them
 */
export function pathSegment(value: string, name = 'A part of the path'): string {
  if (/^\.{0,2}$/.test(value)) {
    throw new TypeError(`${name} cannot be "${value}"`);
  }
  return encodeURIComponent(value);
}

/** Returns the path of a template literal, its values as {@link pathSegment}. */
export function pathOf(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => pathSegment(value)));
}
