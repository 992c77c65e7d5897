import type { WebhookChannel } from '../../../notify/preferences.js';
import { changeChannel, removeChannel } from '../../../notify/settings-changes.js';
import { Dialog, useDialog, type DialogRef } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import { useAction, type Notify } from '../../ui/notice.js';
import { notificationWords } from '../../words/notification-words.js';
import { words } from '../../words/words.js';
import type { AccountActions } from '../use-account.js';
import { ChannelDialog, type ChannelChoices } from './channel-dialog.js';
import { SigningDialog } from './signing.js';
import { Switch } from './switch.js';
import { TestDialog } from './test-dialog.js';
import { TOPICS } from './topics.js';
import type { Save } from './webhooks.js';

export interface ChannelRowProps extends Pick<AccountActions, 'endSession'> {
  readonly channel: WebhookChannel;
  readonly save: Save;
  readonly show: Notify;
}

/** One webhook, with everything that can be done to it. */
export function ChannelRow(props: ChannelRowProps) {
  const { channel, save, show, endSession } = props;
  const { isBusy, run } = useAction(show, endSession);
  const { webhooks } = notificationWords;
  const { id, preset, enabled, secrets } = channel;
  const set = (isOn: boolean) =>
    run(() => save((fields) => changeChannel(fields, id, { enabled: isOn }), webhooks.changed));
  return (
    <li>
      <span class={enabled ? 'tile accent' : 'tile'}>
        <Icon name="bell" />
      </span>
      <div>
        <span class="titled">
          <strong>{nameOf(channel)}</strong>
          {preset !== 'generic' && <span class="badge">{webhooks.presets[preset]}</span>}
          {secrets.length > 0 && <span class="badge good">{webhooks.isSigned}</span>}
          {!enabled && <span class="badge">{webhooks.isOff}</span>}
        </span>
        <span class="quiet">{eventsOf(channel)}</span>
        <Switch label={webhooks.enabled} isOn={enabled} isBusy={isBusy} set={set} />
      </div>
      <Acts {...props} />
    </li>
  );
}

function Acts({ channel, save, show, endSession }: ChannelRowProps) {
  const [test, change, sign, remove] = [useDialog(), useDialog(), useDialog(), useDialog()];
  const { webhooks, test: tests } = notificationWords;
  const acts = [
    { label: tests.open, dialog: test },
    { label: webhooks.change, dialog: change },
    { label: webhooks.secret, dialog: sign },
    { label: words.remove, dialog: remove, kind: 'danger' },
  ];
  const use = (choices: ChannelChoices) =>
    save((fields) => changeChannel(fields, channel.id, { ...choices }), webhooks.changed);
  return (
    <>
      <div class="acts">
        {acts.map(({ label, dialog, kind }) => (
          <button
            key={label}
            type="button"
            class={kind}
            aria-label={`${label}: ${nameOf(channel)}`}
            onClick={() => dialog.current?.showModal()}
          >
            {label}
          </button>
        ))}
      </div>
      <TestDialog own={test} channel={channel} />
      <ChannelDialog key={stateOf(channel)} own={change} {...{ channel, use, endSession }} />
      <SigningDialog own={sign} {...{ channel, save, endSession }} />
      <RemoveDialog own={remove} {...{ channel, save, show, endSession }} />
    </>
  );
}

function RemoveDialog({
  own,
  channel,
  save,
  show,
  endSession,
}: ChannelRowProps & { readonly own: DialogRef }) {
  const { isBusy, run } = useAction(show, endSession);
  const { webhooks } = notificationWords;
  const remove = () => {
    own.current?.close();
    run(() => save((fields) => removeChannel(fields, channel.id), webhooks.removed));
  };
  return (
    <Dialog own={own} title={webhooks.removeTitle}>
      <p>
        <strong>{nameOf(channel)}</strong>
      </p>
      <p>{webhooks.removeLead}</p>
      <div class="row end">
        <button type="button" onClick={() => own.current?.close()}>
          {words.cancel}
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={remove}>
          {words.remove}
        </button>
      </div>
    </Dialog>
  );
}

/** A form that was opened earlier begins again with what is stored now. */
function stateOf({ url, preset, topics, ...more }: WebhookChannel): string {
  const { requestPreviews, readyIncludeMessageText } = more;
  return JSON.stringify([url, preset, topics, requestPreviews, readyIncludeMessageText]);
}

/** The address of a chat's webhook authorizes its sender: its secret part is not shown. */
function nameOf({ url, preset }: WebhookChannel): string {
  const { host, pathname } = new URL(url);
  return preset === 'generic' && pathname !== '/' ? `${host}${pathname}` : host;
}

function eventsOf({ topics }: WebhookChannel): string {
  const { webhooks, topics: names } = notificationWords;
  const on = TOPICS.filter(({ event }) => topics[event]);
  if (on.length === TOPICS.length) {
    return webhooks.all;
  }
  return on.map(({ name }) => names[name]).join(', ') || webhooks.noTopic;
}
