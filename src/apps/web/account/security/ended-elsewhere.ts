import { done } from '../../ui/notice.js';
import { t } from '../../i18n/messages.js';
import type { Session } from '../tab-state.js';
import type { AccountActions } from '../use-account.js';
import { tabChannel } from './tab-channel.js';

/** Its messages are the tokens of ended sessions. */
const signedOut = tabChannel('gatehouse.signed-out');

/** Ends the session in the other tabs that have it. The server would do so, and may not answer. */
export function endInOtherTabs({ token }: Session): void {
  signedOut.send(token);
}

/** Ends the session of this tab when its owner signs out in another one. */
export function useEndElsewhere(
  token: string | undefined,
  endSession: AccountActions['endSession'],
): void {
  const notice = done(() => t.security.signedOut);
  signedOut.useMessage(token, () => endSession(notice, true));
}
