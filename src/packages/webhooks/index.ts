export { verify, WebhookRefused } from './verify.js';
export type {
  RefusalReason,
  SignatureKind,
  VerifiedDelivery,
  VerifyOptions,
  WebhookHeaders,
} from './verify.js';
export type { WebhookPayload } from './payload.js';
