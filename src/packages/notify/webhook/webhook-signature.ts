import { createHmac } from 'node:crypto';
import { signingKey } from './signing-secret.js';

export const SERVICE_SIGNATURE_HEADER = 'x-service-signature-256';

/** `sha256=<hex>`: HMAC-SHA256 of the raw body under the secret (specification, Webhook signing 2). */
export function serviceSignature(rawBody: Uint8Array, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
}

/**
 * One signature of Standard Webhooks 1.0: `v1,<base64>` over id, timestamp and body.
 *
 * @param timestamp Unix seconds
 * @throws TypeError for a `whsec_` secret that is too short, and for an id with a dot
 */
export function standardSignature(
  { id, timestamp, rawBody }: { id: string; timestamp: number; rawBody: Uint8Array },
  secret: string,
): string {
  const key = signingKey(secret);
  if (key === null) {
    throw new TypeError('The signing secret is not base64 of at least 16 bytes.');
  }
  // Dots separate the parts that are signed: one in the id would make them ambiguous.
  if (id.includes('.')) {
    throw new TypeError('The id of a delivery holds a dot.');
  }
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody);
  return `v1,${signed.digest('base64')}`;
}

/** The service's header holds one signature by the newest secret; Standard Webhooks lists all. */
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
