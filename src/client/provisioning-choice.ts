import type { AccountMode, StoragePolicy } from '../policy/storage-policy.js';

/** What kind of account somebody new gets after a provider said who they are. */
export type ProvisioningChoice =
  /** Ask: `e2ee` makes a device-key account, `plain` one whose content the server can read. */
  | { readonly kind: 'ask'; readonly modes: readonly AccountMode[] }
  /** There is one way: take it, with no screen between. */
  | { readonly kind: 'selected'; readonly mode: AccountMode }
  /** This provider makes no accounts here. */
  | { readonly kind: 'none' };

const POSSIBLE: Readonly<Record<StoragePolicy, readonly AccountMode[]>> = {
  required_e2ee: ['e2ee'],
  optional: ['e2ee', 'plain'],
  plaintext_only: ['plain'],
};

/**
 * Whether to ask, and what (specification, OAuth provisioning choice 1 to 3).
 *
 * @param offered the kinds of account the provider makes: from the advertised methods, or
 * `provisioningModes` of the return address. Empty = none
 */
export function chooseProvisioning(
  policy: StoragePolicy,
  offered: readonly AccountMode[],
): ProvisioningChoice {
  const modes = POSSIBLE[policy].filter((mode) => offered.includes(mode));
  const [only] = modes;
  if (only === undefined) {
    return { kind: 'none' };
  }
  return modes.length === 1 ? { kind: 'selected', mode: only } : { kind: 'ask', modes };
}
