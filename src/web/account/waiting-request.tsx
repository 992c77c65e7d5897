import { useEffect, useState } from 'preact/hooks';
import {
  readNotificationTarget,
  type NotificationTarget,
} from '../../client/notifications/notification-routing.js';
import { words } from '../words/words.js';
import { VIEWING } from '../worker/page-messages.js';

interface WaitingRequestProps {
  readonly target: NotificationTarget | null;
  readonly dismiss: () => void;
}

/**
 * What a clicked notification is about, where no app is configured to open it: this page cannot
 * answer a request, but says where it is.
 */
export function WaitingRequest({ target, dismiss }: WaitingRequestProps) {
  if (target === null) {
    return null;
  }
  const { topic, sessionId, requestId } = target;
  const { waiting } = words;
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">{waiting[topic]}</h2>
      <dl>
        <dt>{waiting.session}</dt>
        <dd class="code">{sessionId}</dd>
        {requestId !== null && <dt>{waiting.request}</dt>}
        {requestId !== null && <dd class="code">{requestId}</dd>}
      </dl>
      <p class="quiet">{waiting.hint}</p>
      <div class="row">
        <button type="button" onClick={dismiss}>
          {words.dismiss}
        </button>
      </div>
    </section>
  );
}

/**
 * The request to show: of the address, or of a notification that was clicked while the page is open.
 *
 * @param first of the address this page was opened at
 */
export function useWaitingRequest(first: NotificationTarget | null): WaitingRequestProps {
  const [target, setTarget] = useState(first);
  useEffect(() => listen(target, setTarget), [target]);
  return { target, dismiss: () => setTarget(null) };
}

/** Answers the worker's questions, and shows what was clicked while this page is open. */
function listen(
  target: NotificationTarget | null,
  show: (target: NotificationTarget | null) => void,
): () => void {
  // Undefined where the page is not in a secure context.
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  const onMessage = ({ data, ports: [port] }: MessageEvent<unknown>) => {
    if (data === VIEWING) {
      port?.postMessage(target);
    } else {
      const clicked = readNotificationTarget(data);
      if (clicked !== null) {
        show(clicked);
      }
    }
  };
  workers?.addEventListener('message', onMessage);
  workers?.startMessages();
  return () => workers?.removeEventListener('message', onMessage);
}
