import type { AdminAccount, ListedAccount } from '../../../../packages/client/api/admin-client.js';
import { texts } from '../i18n/texts.js';

export function nameOf({ id, identities }: Pick<AdminAccount, 'id' | 'identities'>): string {
  const known = identities.map(({ email, login }) => email ?? login).find((one) => one !== null);
  return known ?? texts.accounts.unnamed(id.slice(0, 8));
}

interface StateBadge {
  readonly tone: 'good' | 'caution' | 'alarm';
  readonly text: string;
}

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
