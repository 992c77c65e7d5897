import type { AllowRule } from '../../../../core/policy/messages/policy-messages.js';

/** Texts of the page of the policy and of its plan. */
export const policy = {
  present: 'In force now',
  plan: 'Try a change',
  planLead:
    'Change variables here and see who would lose or get access before you restart the server with them. Nothing is changed.',
  choose: 'Add a variable with its present value',
  chooseHint: 'Secrets are left out: a plan needs none.',
  choice: 'Choose a variable…',
  variables: 'Changed variables',
  variablesHint:
    'NAME=value, one a line. An empty value is the default. Text of several lines stands between single quotes.',
  form: 'Write each variable on a line of its own, as NAME=value.',
  submit: 'See what would change',
  outcome: 'Result',
  judged: (accounts: string, count: number) =>
    count === 1 ? 'The only account was judged.' : `All ${accounts} accounts were judged.`,
  sample: (accounts: string, total: string) =>
    `A random sample of ${accounts} of ${total} accounts was judged.`,
  lose: 'Would lose access',
  gain: 'Would get access',
  unknown: 'Unknown until the provider is asked',
  examples: (count: number) => (count === 1 ? 'Show the account' : `Show ${count} of them`),
  backends: 'Tokens for backends',
  backend: 'Backend',
  sentences: 'Changes of the policy',
  before: 'Before:',
  after: 'After:',
  none: 'none',
  same: 'Nothing changes: these variables say what is in force now.',
  sameSentences:
    'The sentences above stay the same. The difference is in settings that they do not describe.',
  findingsThen: 'New findings',
  noNewFindings: 'The change adds no finding.',
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
