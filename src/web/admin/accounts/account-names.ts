import type { AdminAccount, ListedAccount } from '../../../client/api/admin-client.js';
import { texts } from '../words/texts.js';

/** What a person recognizes an account by: an e-mail address or a login where it has one. */
export function nameOf({ id, identities }: Pick<AdminAccount, 'id' | 'identities'>): string {
  const known = identities.map(({ email, login }) => email ?? login).find((one) => one !== null);
  return known ?? texts.accounts.unnamed(id.slice(0, 8));
}

export interface StateBadge {
  readonly tone: 'good' | 'caution' | 'alarm';
  readonly text: string;
}

/** Disabled by an administrator, or refused for what a provider said of an identity. */
export function stateOf({
  state,
  identities,
}: Pick<ListedAccount, 'state' | 'identities'>): StateBadge {
  const { accounts } = texts;
  if (state === 'disabled') {
    return { tone: 'alarm', text: accounts.disabled };
  }
  return identities.some(({ status }) => status === 'ineligible')
    ? { tone: 'caution', text: accounts.ineligible }
    : { tone: 'good', text: accounts.active };
}

/** @param method of a session: a provider's id, or a way to log in of the server itself */
export function methodName(method: string): string {
  const { methods } = texts;
  return Object.hasOwn(methods, method) ? methods[method as keyof typeof methods] : method;
}
