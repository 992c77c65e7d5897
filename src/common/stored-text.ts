/** An index holds less than 2,704 bytes of a text. */
export const MAX_INDEXED_BYTES = 1024;

/** Returns false for NUL and unpaired surrogates, which are valid in JSON but not in databases. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Cs}/u.test(text);
}

/** Returns true for a text that the database stores and finds by an index. */
export function isIndexable(text: string): boolean {
  return isStorable(text) && Buffer.byteLength(text) <= MAX_INDEXED_BYTES;
}
