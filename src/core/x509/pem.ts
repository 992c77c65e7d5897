const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** Finds blocks in a text, whatever it has around them. */
export const CERTIFICATE_BLOCKS = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
export const REVOCATION_LIST_BLOCKS = /-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g;

/**
 * Accepts white space around blocks, and no explanations (RFC 7468): a proxy sends none.
 * @returns null when the text is not only certificates
 */
export function decodePem(text: string): Buffer[] | null {
  const blocks = text.trim().split(END);
  if (blocks.pop() !== '') {
    return null;
  }
  return allOrNull(
    blocks.map((block) => {
      const bare = block.trimStart();
      return bare.startsWith(BEGIN)
        ? decodeStrictBase64(bare.slice(BEGIN.length).replace(/[ \t\r\n]+/g, ''))
        : null;
    }),
  );
}

const STRICT = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Bytes of padded standard base64; null for text that only a lenient decoder accepts. */
export function decodeStrictBase64(text: string): Buffer | null {
  if (text === '' || !STRICT.test(text)) {
    return null;
  }
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

export function allOrNull(items: readonly (Buffer | null)[]): Buffer[] | null {
  const found = items.filter((item) => item !== null);
  return found.length === items.length && found.length > 0 ? found : null;
}
