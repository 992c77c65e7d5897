import { useEffect, useState } from 'preact/hooks';
import {
  readNotificationTarget,
  type NotificationTarget,
  type NotificationTopic,
} from '../../client/notifications/notification-routing.js';
import { VIEWING } from '../worker/page-messages.js';

const WORDS: Readonly<Record<NotificationTopic, string>> = {
  ready: 'A turn is finished.',
  permission_request: 'A permission request waits.',
  user_action_request: 'A question waits.',
};

/**
 * What a clicked notification is about, where no app is configured to open it: this page cannot
 * answer a request, but says where it is.
 *
 * @param first of the address this page was opened at
 */
export function WaitingRequest({ first }: { first: NotificationTarget | null }) {
  const [target, setTarget] = useState(first);
  useEffect(() => listen(target, setTarget), [target]);
  if (target === null) {
    return null;
  }
  const { topic, sessionId, requestId } = target;
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">{WORDS[topic]}</h2>
      <dl>
        <dt>Session</dt>
        <dd class="code">{sessionId}</dd>
        {requestId !== null && <dt>Request</dt>}
        {requestId !== null && <dd class="code">{requestId}</dd>}
      </dl>
      <p class="quiet">Answer it in the app that shows this session.</p>
      <button type="button" class="link" onClick={() => setTarget(null)}>
        Dismiss
      </button>
    </section>
  );
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
