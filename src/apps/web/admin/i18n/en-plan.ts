import { PLAN_MESSAGES } from '../../../../core/policy/messages/plan-messages.js';

/** Texts of the page of the policy and of its plan. */
export const policy = {
  ...PLAN_MESSAGES,
  contents: 'On this page',
  present: 'In force now',
  topics: {
    signup: 'New accounts',
    login: 'Sign-in',
    eligibility: 'Admission',
    revocation: 'End of access',
    backends: 'Backends',
    content: 'Stored content',
  },
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
  examples: (count: number) => (count === 1 ? 'Show the account' : `Show ${count} of them`),
  backend: 'Backend',
  findingsThen: 'New findings',
  noNewFindings: 'The change adds no finding.',
};
