import type { TargetedSubmitEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import { ChannelRefused } from '../../../../packages/notify/settings-changes.js';
import { WEBHOOK_PRESETS } from '../../../../packages/notify/webhook/webhook-request.js';
import { Dialog, type DialogRef } from '../../ui/dialog.js';
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

interface ChannelDialogProps extends Pick<AccountActions, 'endSession'> {
  readonly own: DialogRef;
  /** The channel to change; null = a new one. */
  readonly channel: WebhookChannel | null;
  /** Saves the channel. The dialog shows the error of a rejection. */
  readonly use: (choices: ChannelChoices, isSigned: boolean) => Promise<void>;
}

export function ChannelDialog({ own, channel, use, endSession }: ChannelDialogProps) {
  const [refused, refuseAddress] = useState<Notice | null>(null);
  const { notice, isBusy, run } = useNotedAction(endSession);
  const { webhooks } = notificationMessages;
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
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
      own.current?.close();
      if (channel === null) {
        form.reset();
      }
    });
  };
  return (
    <Dialog own={own} title={channel === null ? webhooks.addTitle : webhooks.changeTitle}>
      <form onSubmit={submit}>
        <ChannelFields channel={channel} refused={refused} />
        <NoticeLine notice={notice} />
        <FormButtons
          close={() => own.current?.close()}
          submit={channel === null ? webhooks.add : t.save}
          isDisabled={isBusy}
        />
      </form>
    </Dialog>
  );
}

function choicesIn(fields: FormData): ChannelChoices {
  const [url, preset] = [fields.get('url'), fields.get('preset')];
  return {
    url: typeof url === 'string' ? url.trim() : '',
    preset: typeof preset === 'string' ? preset : '',
    topics: Object.fromEntries(TOPICS.map(({ name }) => [name, fields.has(name)])),
    requestPreviews: fields.has('previews'),
    readyIncludeMessageText: fields.has('message'),
  };
}

interface FieldsProps extends Pick<ChannelDialogProps, 'channel'> {
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
            isOn={channel?.topics[event] ?? true}
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>{push.shows}</legend>
        <Check name="previews" label={push.previews} isOn={channel?.requestPreviews ?? true} />
        <Check
          name="message"
          label={push.message}
          isOn={channel?.readyIncludeMessageText ?? false}
        />
      </fieldset>
      {channel === null && (
        <fieldset>
          <legend>{webhooks.secret}</legend>
          <Check name="sign" label={webhooks.sign} isOn />
          <p class="hint">{webhooks.signHint}</p>
        </fieldset>
      )}
    </>
  );
}

function Address({ channel, refused }: FieldsProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const { webhooks } = notificationMessages;
  useEffect(() => void (refused !== null && field.current?.focus()), [refused]);
  return (
    <>
      <div class="field">
        <label for={`${id}-url`}>{webhooks.url}</label>
        <input
          ref={field}
          id={`${id}-url`}
          name="url"
          type="url"
          class="code"
          defaultValue={channel?.url ?? ''}
          placeholder="https://"
          maxLength={2048}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={refused !== null}
          aria-describedby={`${id}-problem ${id}-hint`}
          required
        />
        <NoticeLine id={`${id}-problem`} notice={refused} />
        <p id={`${id}-hint`} class="hint">
          {webhooks.urlHint}
        </p>
      </div>
      <Preset id={`${id}-preset`} channel={channel} />
    </>
  );
}

function Preset({ id, channel }: Pick<FieldsProps, 'channel'> & { readonly id: string }) {
  const { webhooks } = notificationMessages;
  return (
    <div class="field">
      <label for={id}>{webhooks.preset}</label>
      <select id={id} name="preset">
        {WEBHOOK_PRESETS.map((preset) => (
          <option key={preset} value={preset} selected={preset === channel?.preset}>
            {webhooks.presets[preset]}
          </option>
        ))}
      </select>
    </div>
  );
}

interface CheckProps {
  readonly name: string;
  readonly label: string;
  readonly isOn: boolean;
}

function Check({ name, label, isOn }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" name={name} defaultChecked={isOn} />
      {label}
    </label>
  );
}
