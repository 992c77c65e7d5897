import { useId, useState } from 'preact/hooks';
import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import { ChannelRefused } from '../../../../packages/notify/settings-changes.js';
import { WEBHOOK_PRESETS } from '../../../../packages/notify/webhook/webhook-request.js';
import { Check, SelectField, submitting, TextField, textOf } from '../../ui/fields.js';
import { failure, NoticeLine, type Notice, useNotedAction } from '../../ui/notice.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { t } from '../../i18n/messages.js';
import type { AccountActions } from '../use-account.js';
import { TOPICS } from './topics.js';
import { FormButtons } from '../../ui/form-buttons.js';

export interface ChannelChoices {
  readonly url: string;
  readonly preset: string;
  readonly topics: Readonly<Record<string, boolean>>;
  readonly requestPreviews: boolean;
  readonly readyIncludeMessageText: boolean;
}

interface ChannelFormProps extends Pick<AccountActions, 'endSession'> {
  /** The channel to change; null = a new one. */
  readonly channel: WebhookChannel | null;
  /** Saves the channel. The form shows the error of a rejection. */
  readonly use: (choices: ChannelChoices, isSigned: boolean) => Promise<void>;
  readonly close: () => void;
}

export function ChannelForm({ channel, use, close, endSession }: ChannelFormProps) {
  const [refused, refuseAddress] = useState<Notice | null>(null);
  const { notice, isBusy, run } = useNotedAction(endSession);
  const submit = submitting((fields) => {
    refuseAddress(null);
    run(async () => {
      try {
        await use(choicesIn(fields), fields.has('sign'));
      } catch (error) {
        if (!(error instanceof ChannelRefused) || error.reason !== 'invalid') {
          throw error;
        }
        refuseAddress(failure(error));
        return;
      }
      close();
    });
  });
  return (
    <form onSubmit={submit}>
      <ChannelFields channel={channel} refused={refused} />
      <NoticeLine notice={notice} />
      <FormButtons
        close={close}
        submit={channel === null ? notificationMessages.webhooks.add : t.save}
        isDisabled={isBusy}
      />
    </form>
  );
}

function choicesIn(fields: FormData): ChannelChoices {
  return {
    url: textOf(fields, 'url'),
    preset: textOf(fields, 'preset'),
    topics: Object.fromEntries(TOPICS.map(({ name }) => [name, fields.has(name)])),
    requestPreviews: fields.has('previews'),
    readyIncludeMessageText: fields.has('message'),
  };
}

interface FieldsProps extends Pick<ChannelFormProps, 'channel'> {
  /** The reason why the address cannot be used. */
  readonly refused: Notice | null;
}

function ChannelFields({ channel, refused }: FieldsProps) {
  const { webhooks, push, topics } = notificationMessages;
  return (
    <>
      <Address channel={channel} refused={refused} />
      <fieldset>
        <legend>{webhooks.topics}</legend>
        {TOPICS.map(({ name, event }) => (
          <Check
            key={name}
            name={name}
            label={topics[name]}
            defaultChecked={channel?.topics[event] ?? true}
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>{push.shows}</legend>
        <Check
          name="previews"
          label={push.previews}
          defaultChecked={channel?.requestPreviews ?? true}
        />
        <Check
          name="message"
          label={push.message}
          defaultChecked={channel?.readyIncludeMessageText ?? false}
        />
      </fieldset>
      {channel === null && (
        <fieldset>
          <legend>{webhooks.secret}</legend>
          <Check name="sign" label={webhooks.sign} hint={webhooks.signHint} defaultChecked />
        </fieldset>
      )}
    </>
  );
}

function Address({ channel, refused }: FieldsProps) {
  const id = useId();
  const { webhooks } = notificationMessages;
  return (
    <>
      <TextField
        id={`${id}-url`}
        name="url"
        label={webhooks.url}
        hint={webhooks.urlHint}
        notice={refused}
        type="url"
        class="code"
        defaultValue={channel?.url ?? ''}
        placeholder="https://"
        maxLength={2048}
        isExact
        required
      />
      <SelectField
        id={`${id}-preset`}
        name="preset"
        label={webhooks.preset}
        choices={WEBHOOK_PRESETS.map((preset) => [preset, webhooks.presets[preset]] as const)}
        initial={channel?.preset}
      />
    </>
  );
}
