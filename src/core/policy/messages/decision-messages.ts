/** The decision about an account, on the console and in the terminal. */
export const DECISION_MESSAGES = {
  allowed: 'This account is admitted',
  refused: {
    'account-disabled': 'Refused: an administrator disabled this account',
    'provider-required': 'Refused: a required provider is not connected',
    'not-eligible': 'Refused: a provider does not confirm this person',
  },
};
