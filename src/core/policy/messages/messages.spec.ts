import { MESSAGES, messageIn, state } from './messages.js';
import type { Wording } from './statement.js';

const NAMES: Wording = {
  provider: (id) => ({ okta: 'Acme Okta', github: 'GitHub' })[id] ?? id,
  reason: (code) => `not in a group, ${code}`,
  time: (at) => `moment ${at}`,
};

describe('messages', () => {
  it('states a sentence with its code, its parameters and the ids of providers', () => {
    expect(state('signup-providers', { providers: ['okta', 'github'] })).toEqual({
      code: 'signup-providers',
      params: { providers: ['okta', 'github'] },
      message: 'An account with device keys can be created through okta or github.',
    });
  });

  it.each([
    [
      state('required-providers', { providers: ['okta', 'github'] }),
      'To use the server, an account must be connected to Acme Okta and GitHub and be eligible there.',
    ],
    [
      state('identity-judged', { status: 'ineligible', reason: 'group_missing' }),
      'By these rules: ineligible (not in a group, group_missing).',
    ],
    [state('account-disabled', { at: 7 }), 'The account is disabled since moment 7.'],
  ])('shows the names of its reader: %j', (statement, message) => {
    expect(messageIn(MESSAGES, statement, NAMES)).toBe(message);
  });

  it.each(['of-a-newer-server', 'toString'])('keeps the message of the unknown code %s', (code) => {
    const statement = { code, params: {}, message: 'Something new.' };
    expect(messageIn(MESSAGES, statement, NAMES)).toBe('Something new.');
  });
});
