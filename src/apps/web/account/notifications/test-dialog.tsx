import type { TargetedEvent } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import { REQUEST_PREVIEWS_VARIABLE } from '../../../../packages/client/notifications/notification-display.js';
import type { NotificationTopic } from '../../../../packages/notify/content/notification-event.js';
import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import { Dialog, type DialogRef } from '../../ui/dialog.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { Listing } from '../../ui/listing.js';
import { curlCommand, previewOfWebhook, PREVIEWS_OF_BUILD } from './preview.js';
import { TOPICS } from './topics.js';

interface TestDialogProps {
  readonly own: DialogRef;
  readonly channel: WebhookChannel;
}

/** The page itself may not send the request. */
export function TestDialog({ own, channel }: TestDialogProps) {
  const [topic, choose] = useState<NotificationTopic>('permission_request');
  const [isBuiltIn, setBuiltIn] = useState(PREVIEWS_OF_BUILD);
  const request = useMemo(
    () => previewOfWebhook(topic, channel, isBuiltIn),
    [topic, channel, isBuiltIn],
  );
  const { test } = notificationMessages;
  const [secret] = channel.secrets;
  const name = TOPICS.find(({ event }) => event === topic)?.name ?? 'ready';
  const isOther = topic !== 'ready' && channel.requestPreviews && isBuiltIn !== PREVIEWS_OF_BUILD;
  const variable = isOther ? `${REQUEST_PREVIEWS_VARIABLE}=${isBuiltIn ? 1 : 0} ` : '';
  const command = `${variable}gatehouse channels test ${channel.id} --topic ${name}`;
  return (
    <Dialog own={own} title={test.title}>
      <EventChoice topic={topic} choose={choose} />
      {topic !== 'ready' && channel.requestPreviews && (
        <SenderChoice isBuiltIn={isBuiltIn} set={setBuiltIn} />
      )}
      <p>{test.body}</p>
      <Listing text={JSON.stringify(JSON.parse(request.body), null, 2)} label={test.body} />
      <h3>{test.send}</h3>
      <p>{test.why}</p>
      <Listing text={command} label={test.why} />
      <p>{test.orCurl}</p>
      <Listing text={curlCommand(request, secret)} label={test.orCurl} />
      <p class="hint">
        {secret !== undefined && test.secret} {test.outcome}
      </p>
      <div class="row end">
        <button type="button" onClick={() => own.current?.close()}>
          {notificationMessages.close}
        </button>
      </div>
    </Dialog>
  );
}

interface EventChoiceProps {
  readonly topic: NotificationTopic;
  readonly choose: (topic: NotificationTopic) => void;
}

function EventChoice({ topic, choose }: EventChoiceProps) {
  const id = useId();
  const { test, topics } = notificationMessages;
  const change = ({ currentTarget }: TargetedEvent<HTMLSelectElement>) =>
    choose(TOPICS.find(({ event }) => event === currentTarget.value)?.event ?? 'ready');
  return (
    <div class="field">
      <label for={id}>{test.event}</label>
      <select id={id} value={topic} onChange={change}>
        {TOPICS.map(({ name, event }) => (
          <option key={name} value={event}>
            {topics[name]}
          </option>
        ))}
      </select>
    </div>
  );
}

interface SenderChoiceProps {
  /** The switch of the sender's build. */
  readonly isBuiltIn: boolean;
  readonly set: (isBuiltIn: boolean) => void;
}

function SenderChoice({ isBuiltIn, set }: SenderChoiceProps) {
  const { push, test } = notificationMessages;
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={isBuiltIn}
          onChange={({ currentTarget }) => set(currentTarget.checked)}
        />
        {test.previews}
      </label>
      <p class="hint">{PREVIEWS_OF_BUILD ? push.previewsOn : push.previewsOff}</p>
    </>
  );
}
