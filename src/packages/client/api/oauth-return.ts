import type { AccountMode, StoragePolicy } from '../../../core/policy/operator-policy.js';
import { readQuery } from './query.js';
import { chooseProvisioning, type ProvisioningChoice } from './auth-choices.js';

/** The parameters of the return address (contract, External providers). */
export type OAuthReturn =
  /** `error` as in the contract: `access_denied`, `not_eligible`, … */
  | {
      readonly kind: 'failed';
      readonly flow: OAuthFlow;
      readonly error: string;
      /** Set where the refused identity has an account. `reason` is one of `REFUSAL_REASONS`, or newer. */
      readonly reason?: string;
      readonly accountId?: string;
    }
  /** Finish linking with `client.connect.finish`. */
  | { readonly kind: 'connect'; readonly pending: string }
  /** The identity has an account: `e2ee` is finished with the device key, `plain` without. */
  | { readonly kind: 'known'; readonly pending: string; readonly accountMode: AccountMode }
  /** The identity has no account: create the one of `provisioning`, or ask. */
  | { readonly kind: 'new'; readonly pending: string; readonly provisioning: ProvisioningChoice };

export type OAuthFlow = 'auth' | 'connect';

const POLICIES: readonly StoragePolicy[] = ['required_e2ee', 'optional', 'plaintext_only'];

/** Apps show the code: a link with a text of its own could call people to something. */
const CODE = /^\w{1,64}$/;

/** Reads the address that opened the app; null when a Gatehouse server did not redirect to it. */
export function readOAuthReturn(address: string): OAuthReturn | null {
  const query = readQuery(address);
  const flow = query?.get('flow');
  if (query === null || (flow !== 'auth' && flow !== 'connect')) {
    return null;
  }
  const [error, pending] = [query.get('error'), query.get('pending')];
  if (error !== undefined) {
    const [reason, accountId] = [query.get('reason'), query.get('account')];
    const account = accountId === undefined ? {} : { accountId };
    const shown = CODE.test(error) ? error : 'unknown';
    const failed = { kind: 'failed', flow, error: shown } as const;
    return { ...failed, ...account, ...(reason !== undefined && { reason }) };
  }
  if (pending === undefined || pending === '') {
    return null;
  }
  return flow === 'connect' ? { kind: 'connect', pending } : readLogin(pending, query);
}

function readLogin(pending: string, query: ReadonlyMap<string, string>): OAuthReturn | null {
  if (query.get('provisioning') === 'required') {
    const offered = (query.get('provisioningModes') ?? '').split(',').filter(isAccountMode);
    const policy = POLICIES.find((known) => known === query.get('storagePolicy'));
    const provisioning = chooseProvisioning(policy ?? 'required_e2ee', offered);
    return { kind: 'new', pending, provisioning };
  }
  const accountMode = query.get('accountMode') ?? '';
  return isAccountMode(accountMode) ? { kind: 'known', pending, accountMode } : null;
}

function isAccountMode(text: string): text is AccountMode {
  return text === 'e2ee' || text === 'plain';
}
