export { verify } from './verify.js';
export type { Verification, VerifyOptions, WebhookHeaders } from './verify.js';
