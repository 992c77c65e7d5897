import type { RefusalCode } from '../../../packages/client/api/problem.js';

/** Why the server refused, where its own message is for programs. By the code of its answer. */
export const enRefusals: Partial<Record<RefusalCode, string>> = {
  'invalid-request': 'The server did not accept what was entered.',
  'invalid-return-to': 'The server does not return to this page. Its operator has to allow it.',
  'content-mode-mismatch': 'The encryption of your account has changed. Reload the page.',
  'plain-account-requires-settings-v2': 'This account stores settings without encryption.',
  'missing-token': 'You are not signed in.',
  'invalid-token': 'Your session is no longer valid. Sign in again.',
  'token-expired': 'Your session has expired. Sign in again.',
  'token-revoked': 'Your session was ended. Sign in again.',
  'challenge-required': 'The server requires a challenge. Sign in again.',
  'challenge-expired': 'The sign-in took too long. Try again.',
  'origin-not-allowed': 'The server does not accept requests from the address of this page.',
  'not-found': 'This does not exist, or no longer exists.',
  'restore-required':
    'This identity belongs to an account with a device key. Sign in with that key.',
  'request-changed': 'The request is not the one that was shown. Start again in the program.',
  'unsupported-media-type': 'The server did not understand the request. Reload the page.',
  'rate-limited': 'Too many requests.',
  unavailable: 'The server cannot answer this right now.',
};
