import type { TargetedEvent } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import type { NotificationTopic } from '../../../notify/content/notification-event.js';
import type { WebhookChannel } from '../../../notify/preferences.js';
import { Dialog, type DialogRef } from '../../ui/dialog.js';
import { notificationWords } from '../../words/notification-words.js';
import { curlCommand, previewOfWebhook } from './preview.js';
import { Listing } from './listing.js';
import { TOPICS } from './topics.js';

interface TestDialogProps {
  readonly own: DialogRef;
  readonly channel: WebhookChannel;
}

/** Shows what a webhook gets, and the commands that send it: a page may not send there itself. */
export function TestDialog({ own, channel }: TestDialogProps) {
  const id = useId();
  const [topic, choose] = useState<NotificationTopic>('permission_request');
  const request = useMemo(() => previewOfWebhook(topic, channel), [topic, channel]);
  const { test, topics } = notificationWords;
  const [secret] = channel.secrets;
  const change = ({ currentTarget }: TargetedEvent<HTMLSelectElement>) =>
    choose(TOPICS.find(({ event }) => event === currentTarget.value)?.event ?? 'ready');
  return (
    <Dialog own={own} title={test.title}>
      <div class="field">
        <label for={`${id}-event`}>{test.event}</label>
        <select id={`${id}-event`} value={topic} onChange={change}>
          {TOPICS.map(({ name, event }) => (
            <option key={name} value={event}>
              {topics[name]}
            </option>
          ))}
        </select>
      </div>
      <p>{test.body}</p>
      <Listing text={JSON.stringify(JSON.parse(request.body), null, 2)} label={test.body} />
      <h3>{test.send}</h3>
      <p>{test.why}</p>
      <Listing text={`gatehouse channels test ${channel.id}`} label={test.why} />
      <p>{test.orCurl}</p>
      <Listing text={curlCommand(request, secret)} label={test.orCurl} />
      <p class="hint">
        {secret !== undefined && test.secret} {test.outcome}
      </p>
      <div class="row end">
        <button type="button" onClick={() => own.current?.close()}>
          {notificationWords.close}
        </button>
      </div>
    </Dialog>
  );
}
