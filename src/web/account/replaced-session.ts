import { useEffect } from 'preact/hooks';
import { clientFor } from '../server.js';
import { ownToken } from './notifications/push-subscription.js';
import { takeReplaced, type Session } from './tab-state.js';

/** Ends the session that this one replaced in this tab: its token would otherwise stay valid. */
export function useReplacedSession(session: Session): void {
  useEffect(() => {
    const replaced = takeReplaced();
    if (replaced !== null && replaced.token !== session.token) {
      // It has ended already, or it expires.
      endReplaced(replaced, session).catch(() => undefined);
    }
  }, [session.token]);
}

async function endReplaced(replaced: Session, session: Session): Promise<void> {
  if (replaced.accountId === session.accountId) {
    await adoptPushToken(session);
  }
  await clientFor(replaced.token).logOut();
}

/** A push token ends with the session that saved it last. */
async function adoptPushToken({ token }: Session): Promise<void> {
  const client = clientFor(token);
  const own = await ownToken().catch(() => null);
  const saved = own === null ? [] : await client.pushTokens();
  if (own !== null && saved.some((one) => one.token === own)) {
    await client.savePushToken(own);
  }
}
