import type { AccountMode } from '../policy/operator-policy.js';

/** Content of an account: text that only its clients can read, or a JSON value. */
export type Content =
  | { readonly t: 'encrypted'; readonly c: string }
  | { readonly t: 'plain'; readonly v: unknown };

export function modeOf({ t }: Content): AccountMode {
  return t === 'encrypted' ? 'e2ee' : 'plain';
}

/** Ignores other fields of the envelope. */
export function isContent(value: unknown): value is Content {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const { t, c, v } = value as Readonly<Record<string, unknown>>;
  return t === 'encrypted' ? isStorableText(c) : t === 'plain' && v !== undefined;
}

/** Half a surrogate pair would be stored as another character. */
export function isStorableText(value: unknown): value is string {
  return typeof value === 'string' && /^[^\p{Cs}]*$/u.test(value);
}

export const MAX_CREDENTIALS = 100;

/** Accepts 1 to 64 letters, digits, `.`, `-` and `_`, without a leading dot. */
export function isServiceName(text: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(text);
}
