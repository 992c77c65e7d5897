import { useEffect, useState } from 'preact/hooks';
import type { NotificationTarget } from '../../../client/notifications/notification-routing.js';
import { isRequestId } from '../../../protocol/request-id.js';
import { t } from '../../i18n/messages.js';
import { clientFor } from '../../server.js';
import { done, failure, type Notify } from '../../ui/notice.js';
import type { Account, AccountActions } from '../use-account.js';
import { requestHash } from './request-address.js';

/** The request of a clicked notification. */
export interface ClickedRequest {
  readonly target: NotificationTarget | null;
  /** True if “Deny” was pressed under the notification. */
  readonly isDenied: boolean;
  readonly dismiss: () => void;
}

/**
 * Opens the request of a clicked notification.
 *
 * @returns the number of requests that wait; null where the server or the account takes none
 */
export function useWaitingRequests(
  account: Account | null,
  { session: { token }, notify }: Pick<AccountActions, 'session' | 'notify'>,
  clicked: ClickedRequest,
): number | null {
  const [count, setCount] = useState(0);
  const isOffered = account !== null && offersAnswers(account);
  const id = clicked.target?.requestId;
  useEffect(() => {
    if (isOffered) {
      // The section reports what fails.
      const use = (listed: readonly unknown[]) => setCount(listed.length);
      clientFor(token)
        .requests.list()
        .then(use, () => undefined);
    }
  }, [account, isOffered, token]);
  useEffect(() => {
    if (!isOffered || !isRequestId(id)) {
      return;
    }
    clicked.dismiss();
    location.hash = requestHash(id);
    if (clicked.isDenied) {
      deny(token, id, notify);
    }
  }, [isOffered, id, clicked.isDenied]);
  return isOffered ? count : null;
}

/** Sends the denial of a button to this page's own server, and looks the request up nowhere else. */
function deny(token: string, id: string, notify: Notify): void {
  clientFor(token)
    .requests.deny(id)
    .then(
      () => notify(done(() => t.waiting.denied)),
      (error: unknown) => notify(failure(error)),
    );
}

function offersAnswers({ features, refusal }: Account): boolean {
  return refusal === null && features.features?.answers?.enabled === true;
}
