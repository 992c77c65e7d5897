import { useId, useMemo, useState } from 'preact/hooks';
import { REQUEST_PREVIEWS_VARIABLE } from '../../../../packages/client/notifications/notification-display.js';
import type { NotificationTopic } from '../../../../packages/notify/content/notification-event.js';
import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import { Button } from '../../ui/button.js';
import { Check, SelectField } from '../../ui/fields.js';
import { t } from '../../i18n/messages.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { Listing } from '../../ui/listing.js';
import { argument, curlCommand, previewOfWebhook, PREVIEWS_OF_BUILD } from './preview.js';
import { TOPICS } from './topics.js';

interface ChannelTestProps {
  readonly channel: WebhookChannel;
  readonly close: () => void;
}

/** The page itself may not send the request. */
export function ChannelTest({ channel, close }: ChannelTestProps) {
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
  const command = `${variable}gatehouse channels test ${argument(channel.id)} --topic ${name}`;
  return (
    <>
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
        <Button onClick={close} text={t.close} />
      </div>
    </>
  );
}

interface EventChoiceProps {
  readonly topic: NotificationTopic;
  readonly choose: (topic: NotificationTopic) => void;
}

function EventChoice({ topic, choose }: EventChoiceProps) {
  const { test, topics } = notificationMessages;
  return (
    <SelectField
      id={useId()}
      label={test.event}
      choices={TOPICS.map(({ name, event }) => [event, topics[name]] as const)}
      value={topic}
      onChange={({ currentTarget }) =>
        choose(TOPICS.find(({ event }) => event === currentTarget.value)?.event ?? 'ready')
      }
    />
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
    <Check
      label={test.previews}
      hint={PREVIEWS_OF_BUILD ? push.previewsOn : push.previewsOff}
      checked={isBuiltIn}
      set={set}
    />
  );
}
