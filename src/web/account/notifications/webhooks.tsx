import { useState } from 'preact/hooks';
import type { SettingsFields } from '../../../client/api/account-settings.js';
import { addChannel, makeSigningSecret, newChannel } from '../../../notify/settings-changes.js';
import { useDialog } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import { done, NoticeLine, type Notice } from '../../ui/notice.js';
import { notificationWords } from '../../words/notification-words.js';
import { BrokenRow } from './broken-row.js';
import { ChannelDialog, type ChannelChoices } from './channel-dialog.js';
import { ChannelRow } from './channel-row.js';
import type { PartProps } from './push-preferences.js';
import { ShownSecret } from './signing.js';

/** Changes the settings, and says what was done. */
export type Save = (
  change: (fields: SettingsFields) => SettingsFields,
  said: string,
) => Promise<void>;

/** The account's webhooks: adds, changes, signs, previews and removes them. */
export function Webhooks({ preferences, settings, endSession }: PartProps) {
  const [notice, show] = useState<Notice | null>(null);
  const [secret, showSecret] = useState<string | null>(null);
  const dialog = useDialog();
  const { channels, brokenChannels } = preferences;
  const { webhooks } = notificationWords;
  const save: Save = async (change, said) => {
    await settings.change(change);
    show(done(said));
  };
  const add = async (choices: ChannelChoices, isSigned: boolean) => {
    const signingSecret = isSigned ? makeSigningSecret() : null;
    const channel = newChannel({ ...choices, signingSecret });
    await save((fields) => addChannel(fields, channel), webhooks.added);
    showSecret(signingSecret);
  };
  const row = { save, show, endSession };
  return (
    <section aria-labelledby="webhooks">
      <Head add={() => dialog.current?.showModal()} />
      {channels.length + brokenChannels.length === 0 && (
        <div class="empty">
          <strong>{webhooks.none}</strong>
          <p>{webhooks.noneHint}</p>
        </div>
      )}
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
      <ChannelDialog own={dialog} channel={null} use={add} endSession={endSession} />
    </section>
  );
}

function Head({ add }: { readonly add: () => void }) {
  const { webhooks } = notificationWords;
  return (
    <div class="card-head">
      <div>
        <h2 id="webhooks">{webhooks.title}</h2>
        <p class="quiet">{webhooks.lead}</p>
      </div>
      <button type="button" onClick={add}>
        <Icon name="plus" />
        {webhooks.add}
      </button>
    </div>
  );
}
