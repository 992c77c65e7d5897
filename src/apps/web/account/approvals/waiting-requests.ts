import { useCallback, useEffect, useState } from 'preact/hooks';
import type { NotificationTarget } from '../../../../packages/client/notifications/notification-routing.js';
import { MAX_TIMER_MS } from '../../../../packages/client/api/api-client-transport.js';
import { isRequestId } from '../../../../core/protocol/request-id.js';
import { t } from '../../i18n/messages.js';
import { clientFor, isKnownServer } from '../../server.js';
import { done, failure, type Notify } from '../../ui/notice.js';
import type { ListedRequest } from '../../../../packages/client/approvals/request-routes.js';
import type { Pressed } from '../../worker/page-messages.js';
import type { Account, AccountActions } from '../use-account.js';
import type { PressedAllow, WaitingRequests } from './pressed-allow.js';
import { requestHash } from './request-address.js';
import { useEvents } from '../../ui/use-events.js';

/** The pause before a server is asked again whose clock is behind that of this device. */
const EXPIRY_RETRY_MS = 15_000;

/** The request of a clicked notification. */
export interface ClickedRequest {
  readonly target: NotificationTarget | null;
  /** null where the notification itself was clicked. */
  readonly pressed: Pressed | null;
  readonly dismiss: () => void;
}

/** Reads the requests that wait, and opens the one of a clicked notification. */
export function useWaitingRequests(
  account: Account | null,
  { session: { token }, notify }: Pick<AccountActions, 'session' | 'notify'>,
  clicked: ClickedRequest,
): WaitingRequests {
  const [waiting, setWaiting] = useState<readonly ListedRequest[]>([]);
  const isOffered =
    account?.refusal === null && account.features.features?.answers?.enabled === true;
  const reload = useCallback(() => {
    if (isOffered) {
      // The section reports what fails.
      clientFor(token)
        .requests.list()
        .then(
          // One that was answered waits for its computer.
          (open) => setWaiting(open.filter(({ answers }) => answers === 0)),
          () => undefined,
        );
    }
  }, [isOffered, token]);
  useEffect(reload, [account, reload]);
  useReloadAtExpiry(
    waiting.map(({ expiresAt }) => expiresAt),
    0,
    reload,
  );
  const pressedAllow = useClickedRequest(clicked, isOffered, (id) => deny(token, id, notify));
  return { waiting: isOffered ? waiting : null, pressedAllow };
}

/** Opens the request of a clicked notification of this server, and sends a denial of its button. */
function useClickedRequest(
  { target, pressed, dismiss }: ClickedRequest,
  isOffered: boolean,
  sendDenial: (id: string) => void,
): PressedAllow | null {
  const [pressedAllow, press] = usePressedAllow();
  // The page cannot send anything to another server.
  const id = target !== null && isKnownServer(target.serverUrl) ? target.requestId : null;
  useEffect(() => {
    if (!isOffered || target === null || !isRequestId(id)) {
      return;
    }
    dismiss();
    openSection(requestHash(id), () => {
      if (pressed?.button === 'deny') {
        sendDenial(id);
      } else if (pressed?.button === 'allow') {
        press(target, pressed);
      }
    });
  }, [isOffered, id, pressed]);
  return pressedAllow;
}

/** Forgets the button once another page of the account is opened. */
function usePressedAllow() {
  const [pressedAllow, set] = useState<PressedAllow | null>(null);
  useEvents(() => set(null), 'hashchange');
  const press = (target: NotificationTarget, pressed: Pressed) =>
    set({ target, pressed, finish: () => set(null) });
  return [pressedAllow, press] as const;
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
    // A longer timer ends at once: by a clock that is weeks behind, it would reload without a pause.
    const pauseMs = leftMs > 0 ? Math.min(leftMs, MAX_TIMER_MS) : EXPIRY_RETRY_MS;
    const timer = setTimeout(reload, pauseMs);
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
