import type { OperatorPolicy } from '../operator-policy.js';

type AnswersPolicy = Pick<OperatorPolicy, 'answers' | 'auth' | 'encryption'>;

/** True if accounts can have a key that opens requests and signs answers. */
export function hasKeysForAnswers({ auth, encryption }: AnswersPolicy): boolean {
  return auth.keyChallengeEnabled && encryption.storagePolicy !== 'plaintext_only';
}

/** True if the server takes requests. Without keys, a person can only deny. */
export function offersAnswers(policy: AnswersPolicy): boolean {
  return policy.answers.enabled ?? hasKeysForAnswers(policy);
}
