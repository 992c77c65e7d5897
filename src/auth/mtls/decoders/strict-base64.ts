const STRICT = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Bytes of padded standard base64; null for anything Buffer would read with a shrug. */
export function decodeStrictBase64(text: string): Buffer | null {
  if (text === '' || !STRICT.test(text)) {
    return null;
  }
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

/** All of them, or null when one is missing. */
export function allOrNull(items: readonly (Buffer | null)[]): Buffer[] | null {
  const found = items.filter((item) => item !== null);
  return found.length === items.length && found.length > 0 ? found : null;
}
