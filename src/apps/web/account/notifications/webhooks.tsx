import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import {
  addChannel,
  makeSigningSecret,
  newChannel,
  removeChannel,
} from '../../../../packages/notify/settings-changes.js';
import { Button } from '../../ui/button.js';
import { DialogButton } from '../../ui/dialog.js';
import { Tile } from '../../ui/icon.js';
import { done, NoticeLine, type Notice, useAction } from '../../ui/notice.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { ChannelForm, type ChannelChoices } from './channel-form.js';
import type { ChannelRowProps, Save } from './channel-props.js';
import { ChannelRow } from './channel-row.js';
import type { PartProps } from './push-preferences.js';
import { ShownSecret } from './signing.js';
import type { BrokenChannel } from '../../../../packages/notify/preferences.js';
import { t } from '../../i18n/messages.js';
import { Section } from '../../ui/section.js';

export function Webhooks({ preferences, settings, endSession }: PartProps) {
  const [notice, show] = useState<Notice | null>(null);
  const [secret, showSecret] = useState<string | null>(null);
  const { channels, brokenChannels } = preferences;
  const { webhooks } = notificationMessages;
  const save: Save = async (change, outcome) => {
    await settings.change(change);
    show(done(() => notificationMessages.webhooks[outcome]));
  };
  const add = async (choices: ChannelChoices, isSigned: boolean) => {
    const signingSecret = isSigned ? makeSigningSecret() : null;
    const channel = newChannel({ ...choices, signingSecret });
    await save((fields) => addChannel(fields, channel), 'added');
    showSecret(signingSecret);
  };
  const isEmpty = channels.length + brokenChannels.length === 0;
  const addButton = <AddButton {...{ add, endSession }} />;
  const row = { save, show, endSession };
  return (
    <Section
      id="webhooks"
      title={webhooks.title}
      lead={webhooks.lead}
      action={isEmpty ? undefined : addButton}
    >
      {isEmpty && <NoWebhooks>{addButton}</NoWebhooks>}
      <NoticeLine notice={notice} />
      {secret !== null && <ShownSecret secret={secret} close={() => showSecret(null)} />}
      <ul>
        {channels.map((channel) => (
          <ChannelRow key={channel.id} channel={channel} {...row} />
        ))}
        {brokenChannels.map((channel, index) => (
          <BrokenRow key={index} channel={channel} {...row} />
        ))}
      </ul>
    </Section>
  );
}

function NoWebhooks({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{notificationMessages.webhooks.none}</strong>
      <p>{notificationMessages.webhooks.noneHint}</p>
      {children}
    </div>
  );
}

interface AddButtonProps extends Pick<PartProps, 'endSession'> {
  readonly add: (choices: ChannelChoices, isSigned: boolean) => Promise<void>;
}

function AddButton({ add, endSession }: AddButtonProps) {
  const { webhooks } = notificationMessages;
  return (
    <DialogButton open={webhooks.add} icon="plus" title={webhooks.addTitle}>
      {(close) => <ChannelForm channel={null} use={add} {...{ close, endSession }} />}
    </DialogButton>
  );
}

interface BrokenRowProps extends Omit<ChannelRowProps, 'channel'> {
  readonly channel: BrokenChannel;
}

function BrokenRow({ channel, save, show, endSession }: BrokenRowProps) {
  const { isBusy, run } = useAction(show, endSession);
  const { id, detail } = channel;
  return (
    <li>
      <Tile name="alert" />
      <div>
        <strong>{notificationMessages.webhooks.broken}</strong>
        <span class="quiet">{detail}</span>
      </div>
      {id !== null && (
        <Button
          class="danger"
          aria-label={`${t.remove}: ${id}`}
          disabled={isBusy}
          onClick={() => run(() => save((fields) => removeChannel(fields, id), 'removed'))}
          text={t.remove}
        />
      )}
    </li>
  );
}
