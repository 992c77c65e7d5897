import type { AccountMode, StoragePolicy } from './operator-policy.js';

/** Arrays and objects in each other, in a plain value. */
const MAX_DEPTH = 100;

/** What an account stores: text that only its clients can read, or a JSON value. */
export type Content =
  { readonly t: 'encrypted'; readonly c: string } | { readonly t: 'plain'; readonly v: unknown };

export type ContentDecision =
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly code:
        'encrypted-writes-disabled' | 'plaintext-writes-disabled' | 'content-mode-mismatch';
    };

const ALLOWED: ContentDecision = { isAllowed: true };

/** How an account that stores content of this kind is encrypted. */
export function modeOf({ t }: Content): AccountMode {
  return t === 'encrypted' ? 'e2ee' : 'plain';
}

/**
 * Whether an account of this mode may write content of this kind (contract, Account, settings,
 * credentials). What the server never stores is named before what this account does not.
 */
export function judgeContentWrite(
  policy: StoragePolicy,
  accountMode: AccountMode,
  content: Content,
): ContentDecision {
  const mode = modeOf(content);
  const stored = judgeStoredMode(policy, mode);
  if (!stored.isAllowed) {
    return stored;
  }
  return mode === accountMode ? ALLOWED : { isAllowed: false, code: 'content-mode-mismatch' };
}

/** Whether the server takes new content that is kept this way. */
export function judgeStoredMode(policy: StoragePolicy, mode: AccountMode): ContentDecision {
  if (mode === 'e2ee' && policy === 'plaintext_only') {
    return { isAllowed: false, code: 'encrypted-writes-disabled' };
  }
  if (mode === 'plain' && policy === 'required_e2ee') {
    return { isAllowed: false, code: 'plaintext-writes-disabled' };
  }
  return ALLOWED;
}

/** Whether a value a client sent is content. Whatever else is in the envelope is ignored. */
export function isContent(value: unknown): value is Content {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const { t, c, v } = value as Readonly<Record<string, unknown>>;
  return t === 'encrypted' ? isStorableText(c) : t === 'plain' && v !== undefined && isFlat(v);
}

/** Whether a JSON value can be written and read again: either takes the stack along. */
function isFlat(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    level = level.flatMap((entry) =>
      typeof entry === 'object' && entry !== null ? (Object.values(entry) as unknown[]) : [],
    );
    if (level.length === 0) {
      return true;
    }
  }
  return false;
}

/** Text that comes back as it went: half a surrogate pair would not. */
export function isStorableText(value: unknown): value is string {
  return typeof value === 'string' && /^[^\p{Cs}]*$/u.test(value);
}

/** Connected services that one account may keep credentials of. */
export const MAX_CREDENTIALS = 100;

/** Whether text names a connected service: 1 to 64 letters, digits, `.`, `-` and `_`, not a dot first. */
export function isServiceName(text: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(text);
}
