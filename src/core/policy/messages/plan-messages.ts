import type { AllowRule } from './policy-messages.js';

/** English texts of a plan, on the command line and in the console. */
export const PLAN_MESSAGES = {
  judged: (accounts: string, count: number) =>
    count === 1 ? 'The only account was judged.' : `All ${accounts} accounts were judged.`,
  sample: (accounts: string, total: string) =>
    `A random sample of ${accounts} of ${total} accounts was judged.`,
  lose: 'Would lose access',
  gain: 'Would get access',
  unknown: 'Unknown until the provider is asked',
  backends: 'Tokens for backends',
  sentences: 'Changes of the policy',
  before: 'Before:',
  after: 'After:',
  none: 'none',
  same: 'Nothing changes: these variables say what is in force now.',
  sameSentences:
    'The sentences of the policy stay the same. The difference is in settings that they do not describe.',
  rules: {
    users: 'people',
    emailDomains: 'domains of e-mail addresses',
    groupsAny: 'groups, one of',
    groupsAll: 'groups, all of',
    orgsAny: 'organisations, one of',
    orgsAll: 'organisations, all of',
    issuers: 'issuers of certificates',
  } satisfies Record<AllowRule, string>,
};
