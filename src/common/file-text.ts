export type FileText = { readonly text: string } | { readonly failure: string };

/**
 * Decodes UTF-8 without the byte order mark that editors on Windows add. UTF-16 without a mark shows
 * by its null bytes, and DER by the tag and length of its sequence, which no text in UTF-8 begins
 * with. A failure completes "names a file that ...".
 */
export function decodeFile(bytes: Buffer): FileText {
  const mark = bytes.subarray(0, 2).toString('hex');
  if (/^308[0-4]$/.test(mark)) {
    return { failure: 'is binary (DER or PKCS #12); convert it to PEM' };
  }
  return mark === 'fffe' || mark === 'feff' || bytes.includes(0)
    ? { failure: 'is encoded as UTF-16; save it as UTF-8' }
    : { text: bytes.toString('utf8').replace(/^\uFEFF/, '') };
}

/**
 * Decodes a secret without the line ends at its end. Other encodings would be read as another secret.
 */
export function decodeSecret(bytes: Buffer): FileText {
  const file = decodeFile(bytes);
  if ('failure' in file) {
    return file;
  }
  const text = file.text.replace(/[\r\n]+$/, '');
  if (text.includes('\uFFFD')) {
    return { failure: 'is not encoded as UTF-8' };
  }
  return text.trim() === '' ? { failure: 'is empty' } : { text };
}
