import * as v from 'valibot';
import {
  choice,
  flag,
  object,
  optionalChoice,
  optionalText,
  optionalTexts,
  text,
  texts,
} from '../../../server/config/providers-file/entry-schema.js';

const MODES = 'must be an array of "keyed" and "keyless".';
const MEMBERSHIP = choice(['active', 'pending', 'none'], 'Membership in the organisation.');

/** The reader of policy tests and the JSON schema are derived from it. */
export const POLICY_TEST_ENTRY = object({
  name: optionalText('Name in the output. Default: the login, else the subject.'),
  provider: text('Id of a configured provider.'),
  subject: text('Subject at the provider; at GitHub the numeric id.'),
  login: optionalText('Login name.'),
  email: optionalText('E-mail address, of the claim that the provider is configured for.'),
  emailVerified: flag('Whether the provider says that the address is verified.'),
  groups: v.optional(
    texts('Groups. Without this field the provider reports none, which is not an empty list.'),
  ),
  organizations: v.optional(
    v.pipe(
      v.record(v.string(), MEMBERSHIP, 'must be an object of organisations.'),
      v.description(
        'Memberships at GitHub by organisation. One that is not named has no membership.',
      ),
    ),
    {},
  ),
  accountMode: optionalChoice(
    ['keyed', 'keyless'],
    'Mode of the account whose access is judged.',
    'keyed',
  ),
  linked: optionalTexts(
    'Other providers that the account is connected to, and where the person is eligible.',
  ),
  expect: v.pipe(
    object({
      eligibility: choice(['eligible', 'ineligible'], 'What the rules of the provider result in.'),
      reason: optionalText('Why the person is ineligible, such as group_missing.'),
      access: optionalChoice(
        ['allowed', 'provider-required', 'not-eligible'],
        'What an account with this identity is answered.',
      ),
      creates: v.optional(
        v.pipe(
          v.array(v.picklist(['keyed', 'keyless'], MODES), MODES),
          v.description('Modes of the account that a first login may create. Empty = none.'),
        ),
      ),
    }),
    v.description('What is compared. A field that is missing is not.'),
  ),
});

export type PolicyTestEntry = v.InferOutput<typeof POLICY_TEST_ENTRY>;
