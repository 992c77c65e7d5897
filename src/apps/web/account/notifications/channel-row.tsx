import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import { changeChannel, removeChannel } from '../../../../packages/notify/settings-changes.js';
import { Dialog, useDialog, type DialogRef } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import { t } from '../../i18n/messages.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { useAction } from '../../ui/notice.js';
import { ChannelDialog, type ChannelChoices } from './channel-dialog.js';
import type { ChannelRowProps } from './channel-props.js';
import { SigningDialog } from './signing.js';
import { Switch } from './switch.js';
import { TestDialog } from './test-dialog.js';
import { TOPICS } from './topics.js';
import { FormButtons } from '../../ui/form-buttons.js';

export function ChannelRow(props: ChannelRowProps) {
  const { channel, save, show, endSession } = props;
  const { isBusy, run } = useAction(show, endSession);
  const { webhooks } = notificationMessages;
  const { id, preset, enabled, secrets } = channel;
  const set = (isOn: boolean) =>
    run(() => save((fields) => changeChannel(fields, id, { enabled: isOn }), 'changed'));
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
      <Actions {...props} />
    </li>
  );
}

function Actions({ channel, save, show, endSession }: ChannelRowProps) {
  const [test, change, sign, remove] = [useDialog(), useDialog(), useDialog(), useDialog()];
  const { webhooks, test: tests } = notificationMessages;
  const acts = [
    { label: tests.open, dialog: test },
    { label: webhooks.change, dialog: change },
    { label: webhooks.secret, dialog: sign },
    { label: t.remove, dialog: remove, kind: 'danger' },
  ];
  const use = (choices: ChannelChoices) =>
    save((fields) => changeChannel(fields, channel.id, { ...choices }), 'changed');
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
  const { webhooks } = notificationMessages;
  const remove = () => {
    own.current?.close();
    run(() => save((fields) => removeChannel(fields, channel.id), 'removed'));
  };
  return (
    <Dialog own={own} title={webhooks.removeTitle}>
      <p>
        <strong>{nameOf(channel)}</strong>
      </p>
      <p>{webhooks.removeLead}</p>
      <FormButtons
        close={() => own.current?.close()}
        submit={t.remove}
        confirm={remove}
        kind="danger"
        isDisabled={isBusy}
      />
    </Dialog>
  );
}

/** Key of the form: a change of the stored channel resets it. */
function stateOf({ url, preset, topics, ...more }: WebhookChannel): string {
  const { requestPreviews, readyIncludeMessageText } = more;
  return JSON.stringify([url, preset, topics, requestPreviews, readyIncludeMessageText]);
}

/** Returns the address without its secret part, which authorizes the sender to a chat service. */
export function nameOf({ url, preset }: WebhookChannel): string {
  const { host, pathname } = new URL(url);
  return preset === 'generic' && pathname !== '/' ? `${host}${pathname}` : host;
}

function eventsOf({ topics }: WebhookChannel): string {
  const { webhooks, topics: names } = notificationMessages;
  const on = TOPICS.filter(({ event }) => topics[event]);
  if (on.length === TOPICS.length) {
    return webhooks.all;
  }
  return on.map(({ name }) => names[name]).join(', ') || webhooks.noTopic;
}
