import type { POLICY_MESSAGES } from '../../../../core/policy/messages/policy-messages.js';
import type { Statement } from '../../../../core/policy/messages/statement.js';
import { texts } from '../i18n/texts.js';
import { Statements } from './statements.js';

type Topic = keyof typeof texts.policy.topics;

/** The subject of each sentence of the policy. */
const TOPICS: Readonly<Record<keyof typeof POLICY_MESSAGES, Topic>> = {
  'signup-open': 'signup',
  'signup-invited': 'signup',
  'signup-refused': 'signup',
  'signup-providers': 'signup',
  'signup-keyless': 'signup',
  'signup-certificate': 'signup',
  'login-key': 'login',
  'login-key-off': 'login',
  'login-keyless': 'login',
  'login-certificate': 'login',
  'required-none': 'eligibility',
  'required-providers': 'eligibility',
  'keyless-served': 'eligibility',
  'provider-open': 'eligibility',
  'provider-rule': 'eligibility',
  'provider-directory': 'eligibility',
  rechecked: 'revocation',
  'not-rechecked': 'revocation',
  'login-instead': 'revocation',
  'outage-strict': 'revocation',
  'outage-lenient': 'revocation',
  'revoked-within': 'revocation',
  'revoked-at-backends': 'revocation',
  'resource-server': 'backends',
  'content-encrypted': 'content',
  'content-plain': 'content',
  'content-optional': 'content',
  'plain-sealed': 'content',
  'plain-readable': 'content',
};

/** The sentences of the policy under their subjects. One of a newer server follows the sentence before it. */
export function Rules({ statements }: { readonly statements: readonly Statement[] }) {
  const parts = new Map<Topic, readonly Statement[]>();
  let topic: Topic = 'signup';
  for (const statement of statements) {
    topic = topicOf(statement.code) ?? topic;
    parts.set(topic, [...(parts.get(topic) ?? []), statement]);
  }
  return (
    <>
      {[...parts].map(([name, own]) => (
        <div key={name} class="topic">
          <h3>{texts.policy.topics[name]}</h3>
          <Statements statements={own} />
        </div>
      ))}
    </>
  );
}

function topicOf(code: string): Topic | undefined {
  return Object.hasOwn(TOPICS, code) ? TOPICS[code as keyof typeof TOPICS] : undefined;
}
