import { useLayoutEffect } from 'preact/hooks';
import { done } from '../../ui/notice.js';
import { t } from '../../i18n/messages.js';
import type { Session } from '../tab-state.js';
import type { AccountActions } from '../use-account.js';

let tabs: BroadcastChannel | undefined;

/**
 * One per tab, because a channel does not receive its own messages. They are the tokens of ended sessions, and only
 * pages of this origin receive them. Firefox throws where it blocks the storage of the page, so it is created when used.
 */
function channel(): BroadcastChannel {
  tabs ??= new BroadcastChannel('gatehouse.signed-out');
  return tabs;
}

/** Ends the session in the other tabs that have it. The server would do so, and may not answer. */
export function endInOtherTabs({ token }: Session): void {
  channel().postMessage(token);
}

/** Ends the session of this tab when its owner signs out in another one. */
export function useEndElsewhere(
  token: string | undefined,
  endSession: AccountActions['endSession'],
): void {
  useLayoutEffect(() => {
    if (token === undefined) {
      return undefined;
    }
    const onMessage = ({ data }: MessageEvent<unknown>) => {
      if (data === token) {
        endSession(
          done(() => t.security.signedOut),
          true,
        );
      }
    };
    channel().addEventListener('message', onMessage);
    return () => channel().removeEventListener('message', onMessage);
  }, [token]);
}
