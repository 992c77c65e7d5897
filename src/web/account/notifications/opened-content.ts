import type { AccountContent } from '../../../client/crypto/account-content.js';

let kept: { readonly token: string; readonly content: AccountContent } | null = null;

/** Keeps the opened settings while other parts of the page are visited: in memory, for this session. */
export function keepOpened(token: string, content: AccountContent): void {
  kept = { token, content };
}

/** What was opened with {@link keepOpened} in the session of this token; null where nothing was. */
export function openedFor(token: string): AccountContent | null {
  return kept?.token === token ? kept.content : null;
}

/** The session has ended. */
export function forgetOpened(): void {
  kept = null;
}
