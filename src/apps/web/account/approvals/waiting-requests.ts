import { useCallback, useEffect, useState } from 'preact/hooks';
import type {
  NotificationActionId,
  NotificationTarget,
} from '../../../../packages/client/notifications/notification-routing.js';
import { isRequestId } from '../../../../core/protocol/request-id.js';
import { t } from '../../i18n/messages.js';
import { clientFor } from '../../server.js';
import { done, failure, problem, type Notify } from '../../ui/notice.js';
import type { ListedRequest } from '../../../../packages/client/approvals/request-routes.js';
import type { Account, AccountActions } from '../use-account.js';
import { requestHash } from './request-address.js';

/** The pause before a server is asked again whose clock is behind that of this device. */
const EXPIRY_RETRY_MS = 15_000;

/** The request of a clicked notification. */
export interface ClickedRequest {
  readonly target: NotificationTarget | null;
  /** The button that was pressed under the notification; null where it was the notification itself. */
  readonly pressed: NotificationActionId | null;
  readonly dismiss: () => void;
}

/**
 * Opens the request of a clicked notification.
 *
 * @returns the requests that wait; null where the server or the account takes none
 */
export function useWaitingRequests(
  account: Account | null,
  { session: { token }, notify }: Pick<AccountActions, 'session' | 'notify'>,
  clicked: ClickedRequest,
): readonly ListedRequest[] | null {
  const [waiting, setWaiting] = useState<readonly ListedRequest[]>([]);
  const isOffered = account !== null && offersAnswers(account);
  const id = clicked.target?.requestId;
  const reload = useCallback(() => {
    if (isOffered) {
      // The section reports what fails.
      clientFor(token)
        .requests.list()
        .then(setWaiting, () => undefined);
    }
  }, [isOffered, token]);
  useEffect(reload, [account, reload]);
  useReloadAtExpiry(
    waiting.map(({ expiresAt }) => expiresAt),
    0,
    reload,
  );
  useEffect(() => {
    if (!isOffered || !isRequestId(id)) {
      return;
    }
    clicked.dismiss();
    const { pressed } = clicked;
    openSection(requestHash(id), () => {
      if (pressed === 'deny') {
        deny(token, id, notify);
      } else if (pressed === 'allow') {
        // A browser says neither what it displayed whole, nor who pressed the button.
        notify(problem(() => t.waiting.readFirst));
      }
    });
  }, [isOffered, id, clicked.pressed]);
  return isOffered ? waiting : null;
}

/**
 * Reloads when the time of a request is over, which no update reports.
 *
 * @param expiries Unix milliseconds by a clock that is `offsetMs` ahead of this device's
 */
export function useReloadAtExpiry(
  expiries: readonly number[],
  offsetMs: number,
  reload: () => void,
): void {
  const first = expiries.length === 0 ? null : Math.min(...expiries);
  useEffect(() => {
    if (first === null) {
      return undefined;
    }
    const leftMs = first - Date.now() - offsetMs;
    const timer = setTimeout(reload, leftMs > 0 ? leftMs : EXPIRY_RETRY_MS);
    return () => clearTimeout(timer);
  }, [expiries, offsetMs, reload]);
}

/** Opens a section, which clears the notice of the last one, and then acts. */
function openSection(hash: string, act: () => void): void {
  if (location.hash === hash) {
    act();
  } else {
    addEventListener('hashchange', act, { once: true });
    location.hash = hash;
  }
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
