/** Lower case of the letters A to Z alone, as `lower(text COLLATE "C")` in PostgreSQL: K is no Kelvin sign. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
