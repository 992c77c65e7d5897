import { createHmac } from 'node:crypto';

/** Specification, Webhook signing: the header of this service's own. */
export const SERVICE_SIGNATURE_HEADER = 'x-service-signature-256';

const STANDARD_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** `sha256=<hex>`: HMAC-SHA256 of the raw body under the secret (specification, Webhook signing 2). */
export function serviceSignature(rawBody: Uint8Array, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
}

/**
 * One signature of Standard Webhooks 1.0: `v1,<base64>` over id, timestamp and body. A secret
 * `whsec_<base64>` stands for the bytes in it, any other for its own UTF-8.
 *
 * @param timestamp Unix seconds
 */
export function standardSignature(
  { id, timestamp, rawBody }: { id: string; timestamp: number; rawBody: Uint8Array },
  secret: string,
): string {
  const bytes = STANDARD_SECRET.exec(secret)?.[1];
  const key = bytes === undefined ? secret : Buffer.from(bytes, 'base64');
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody);
  return `v1,${signed.digest('base64')}`;
}

/**
 * The headers of one try. Of several secrets the first, the newest, makes the service's signature,
 * which holds one; Standard Webhooks lists all.
 */
export function signatureHeaders(
  message: { id: string; timestamp: number; rawBody: Uint8Array },
  secrets: readonly string[],
): Record<string, string> {
  const [newest] = secrets;
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    ...(newest !== undefined && {
      [SERVICE_SIGNATURE_HEADER]: serviceSignature(message.rawBody, newest),
      'webhook-signature': secrets.map((secret) => standardSignature(message, secret)).join(' '),
    }),
  };
}
