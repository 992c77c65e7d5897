import { allOrNull, decodeStrictBase64 } from './strict-base64.js';

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/**
 * Certificates of PEM text, first one first. White space of any kind may stand between the lines
 * and the blocks, and nothing else (RFC 7468 allows explanations there; a proxy sends none).
 *
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
