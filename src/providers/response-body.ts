import { UpstreamError } from './upstream-error.js';

/** The body, as long as it has at most `maxBytes` after decompression. @throws UpstreamError */
export async function readCapped(
  response: Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream: the rest is never received.
    if (size > maxBytes) {
      throw new UpstreamError('too_large');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body as a JSON object. @throws UpstreamError `unexpected_answer` for anything else */
export async function readJsonObject(response: Response): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = await response.json();
  } catch {
    // The parser's own error quotes the body.
    throw new UpstreamError('unexpected_answer');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UpstreamError('unexpected_answer');
  }
  return value as Record<string, unknown>;
}
