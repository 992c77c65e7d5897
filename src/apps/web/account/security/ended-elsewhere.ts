import { useLayoutEffect } from 'preact/hooks';
import { done } from '../../ui/notice.js';
import { t } from '../../i18n/messages.js';
import type { Session } from '../tab-state.js';
import type { AccountActions } from '../use-account.js';

/** Only pages of this origin receive its messages, which are the tokens of ended sessions. */
const CHANNEL = 'gatehouse.signed-out';

/** Ends the session in the other tabs that have it. The server would do so, and may not answer. */
export function endInOtherTabs({ token }: Session): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(token);
  channel.close();
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
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data === token) {
        endSession(
          done(() => t.security.signedOut),
          true,
        );
      }
    };
    return () => channel.close();
  }, [token]);
}
