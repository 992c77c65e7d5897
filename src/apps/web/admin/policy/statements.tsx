import { messageIn } from '../../../../core/policy/messages/messages.js';
import type { Statement } from '../../../../core/policy/messages/statement.js';
import { formatDate } from '../../i18n/format.js';
import { texts } from '../i18n/texts.js';
import { useProviderName } from '../provider-names.js';

export function Statements({ statements }: { readonly statements: readonly Statement[] }) {
  const messageOf = useMessages();
  return (
    <ul class="plain-list">
      {statements.map((one) => (
        <li key={one.message}>{messageOf(one)}</li>
      ))}
    </ul>
  );
}

/** Returns a function from a statement of the server to its message in the chosen language. */
export function useMessages(): (statement: Statement) => string {
  const provider = useProviderName();
  const wording = { provider, reason: reasonName, time: formatDate };
  return (statement) => messageIn(texts.statements, statement, wording);
}

/** @param code of an eligibility reason or an error; an unknown one stays as it is */
export function reasonName(code: string): string {
  const { reasons } = texts;
  const key = code.replaceAll('_', '-');
  return Object.hasOwn(reasons, key) ? reasons[key as keyof typeof reasons] : code;
}
