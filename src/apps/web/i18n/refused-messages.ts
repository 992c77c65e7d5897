import { REFUSAL_REASONS, type RefusalReason } from '../../../packages/client/refusal-reasons.js';
import { loaderOf } from './messages.js';

/** Texts for people who are refused. `{provider}` is replaced by the name of the provider. */
export const refusedMessages = {
  title: 'You have no access right now',
  kept: 'Your account and its data are kept.',
  reasons: REFUSAL_REASONS as Readonly<Record<RefusalReason, string>>,
  signedOut: 'Your sign-in at {provider} has ended or is too old.',
  connect: (name: string) => `Connect ${name} now`,
  signInAgain: (name: string) => `Sign in at ${name} again`,
  certificateAgain: 'Present a certificate again',
  checkAgain: 'Check again',
  stillRefused: 'Nothing has changed yet.',
  connectHint: 'You have access as soon as it is connected.',
  signInHint: 'You have access as soon as you are signed in there.',
  restoredHint: 'Once your access is restored, sign in there again: this server then asks at once.',
  certificateHint:
    'Another certificate may be accepted: choose it here, or sign in on the device that has it.',
  nextCheck: (when: string) => `This server also asks by itself, next ${when}.`,
  askLabel: 'Who can help',
  ask: 'The operator of this server.',
  giveId: 'Give them your account ID.',
  steps: {
    'not-eligible':
      'Sign in again once you have access. If you used the wrong account at the provider, sign out there first.',
    'account-disabled': 'Only an administrator can enable it. Then sign in again.',
    'signup-disabled':
      'If you have an account already, use its key, its provider or another device. Otherwise ask for an invitation.',
    'invitation-invalid': 'Ask for a new invitation.',
    'signup-provider-disabled':
      'If you have an account already, sign in with its key or on another device.',
    'keyless-disabled': 'If you have a device key, sign in with it or use another device.',
    'e2ee-required': 'If you have a device key, sign in with it or use another device.',
    'key-challenge-disabled': 'Sign in through a provider, or use another device.',
  },
};

/** Loads the texts of the language now, and again when it changes. */
export const loadRefusedMessages = loaderOf(
  refusedMessages,
  async () => (await import('./de-refused.js')).deRefused,
);
