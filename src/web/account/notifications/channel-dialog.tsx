import type { TargetedSubmitEvent } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { WebhookChannel } from '../../../notify/preferences.js';
import { WEBHOOK_PRESETS } from '../../../notify/webhook/webhook-request.js';
import { Dialog, type DialogRef } from '../../ui/dialog.js';
import { NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { notificationWords } from '../../words/notification-words.js';
import { words } from '../../words/words.js';
import type { AccountActions } from '../use-account.js';
import { TOPICS } from './topics.js';

/** What a person chooses of a channel, in the names of the settings. */
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
  /** Saves it. What it rejects with is shown here. */
  readonly use: (choices: ChannelChoices, isSigned: boolean) => Promise<void>;
}

/** Asks for a channel's address, events and previews. */
export function ChannelDialog({ own, channel, use, endSession }: ChannelDialogProps) {
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, endSession);
  const { webhooks } = notificationWords;
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    run(async () => {
      await use(choicesIn(fields), fields.has('sign'));
      own.current?.close();
      if (channel === null) {
        form.reset();
      }
    });
  };
  return (
    <Dialog own={own} title={channel === null ? webhooks.addTitle : webhooks.changeTitle}>
      <form onSubmit={submit}>
        <ChannelFields channel={channel} />
        <NoticeLine notice={notice} />
        <div class="row end">
          <button type="button" onClick={() => own.current?.close()}>
            {words.cancel}
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            {channel === null ? webhooks.add : words.save}
          </button>
        </div>
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

type FieldsProps = Pick<ChannelDialogProps, 'channel'>;

function ChannelFields({ channel }: FieldsProps) {
  const { webhooks, push, topics } = notificationWords;
  return (
    <>
      <Address channel={channel} />
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

function Address({ channel }: FieldsProps) {
  const id = useId();
  const { webhooks } = notificationWords;
  return (
    <>
      <div class="field">
        <label for={`${id}-url`}>{webhooks.url}</label>
        <input
          id={`${id}-url`}
          name="url"
          type="url"
          class="code"
          defaultValue={channel?.url ?? ''}
          placeholder="https://"
          maxLength={2048}
          autocomplete="off"
          spellcheck={false}
          required
        />
        <p class="hint">{webhooks.urlHint}</p>
      </div>
      <div class="field">
        <label for={`${id}-preset`}>{webhooks.preset}</label>
        <select id={`${id}-preset`} name="preset">
          {WEBHOOK_PRESETS.map((preset) => (
            <option key={preset} value={preset} selected={preset === channel?.preset}>
              {webhooks.presets[preset]}
            </option>
          ))}
        </select>
      </div>
    </>
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
