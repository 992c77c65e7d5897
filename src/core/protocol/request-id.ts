/** 128 random bits in unpadded base64url; the last character has two bits of them. */
const REQUEST_ID = /^[\w-]{21}[AQgw]$/;

/** True for an id of a request: 22 characters of base64url. */
export function isRequestId(text: unknown): text is string {
  return typeof text === 'string' && REQUEST_ID.test(text);
}
