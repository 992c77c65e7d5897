/** What the server may store (specification, Keyless and encryption variables). */
export type StoragePolicy = 'required_e2ee' | 'optional' | 'plaintext_only';

/** How one account's content is stored: sealed by its own keys, or readable by the server. */
export type AccountMode = 'e2ee' | 'plain';

/** Whether an account holds device keys. */
export type KeyMode = 'keyed' | 'keyless';
