import type { WebhookChannel } from '../../../../packages/notify/preferences.js';
import { changeChannel, removeChannel } from '../../../../packages/notify/settings-changes.js';
import { DialogButton } from '../../ui/dialog.js';
import { Tile } from '../../ui/icon.js';
import { t } from '../../i18n/messages.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { useAction } from '../../ui/notice.js';
import { ChannelForm, type ChannelChoices } from './channel-form.js';
import type { ChannelRowProps } from './channel-props.js';
import { Signing } from './signing.js';
import { Switch } from './switch.js';
import { ChannelTest } from './channel-test.js';
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
      <Tile name="bell" isAccented={enabled} />
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
  const { isBusy, run } = useAction(show, endSession);
  const { webhooks, test } = notificationMessages;
  const name = nameOf(channel);
  const labelled = (open: string) => ({ open, 'aria-label': `${open}: ${name}` });
  const use = (choices: ChannelChoices) =>
    save((fields) => changeChannel(fields, channel.id, { ...choices }), 'changed');
  const remove = () => run(() => save((fields) => removeChannel(fields, channel.id), 'removed'));
  return (
    <div class="acts">
      <DialogButton {...labelled(test.open)} title={test.title}>
        {(close) => <ChannelTest {...{ channel, close }} />}
      </DialogButton>
      <DialogButton {...labelled(webhooks.change)} title={webhooks.changeTitle}>
        {(close) => <ChannelForm {...{ channel, use, close, endSession }} />}
      </DialogButton>
      <DialogButton {...labelled(webhooks.secret)} title={webhooks.secretTitle}>
        {(close) => <Signing {...{ channel, save, close, endSession }} />}
      </DialogButton>
      <DialogButton {...labelled(t.remove)} title={webhooks.removeTitle} class="danger">
        {(close) => <Removal {...{ name, isBusy, remove, close }} />}
      </DialogButton>
    </div>
  );
}

interface RemovalProps {
  readonly name: string;
  readonly isBusy: boolean;
  readonly remove: () => void;
  readonly close: () => void;
}

function Removal({ name, isBusy, remove, close }: RemovalProps) {
  const confirm = () => {
    close();
    remove();
  };
  return (
    <>
      <p>
        <strong>{name}</strong>
      </p>
      <p>{notificationMessages.webhooks.removeLead}</p>
      <FormButtons
        close={close}
        submit={t.remove}
        confirm={confirm}
        kind="danger"
        isDisabled={isBusy}
      />
    </>
  );
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
