import { useState } from 'preact/hooks';
import { changeChannel, makeSigningSecret } from '../../../../packages/notify/settings-changes.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { NoticeLine, useNotedAction } from '../../ui/notice.js';
import { t } from '../../i18n/messages.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import type { ChannelRowProps } from './channel-props.js';

interface SigningProps extends Omit<ChannelRowProps, 'show'> {
  readonly close: () => void;
}

export function Signing({ close, channel, save, endSession }: SigningProps) {
  const [secret, showSecret] = useState<string | null>(null);
  const { notice, isBusy, run } = useNotedAction(endSession);
  const { webhooks } = notificationMessages;
  const isSigned = channel.secrets.length > 0;
  const act = (signingSecret: string | null) =>
    run(async () => {
      const outcome = signingSecret === null ? 'unsigned' : 'changed';
      await save((fields) => changeChannel(fields, channel.id, { signingSecret }), outcome);
      showSecret(signingSecret);
    });
  return (
    <>
      {secret === null ? (
        <p>{isSigned ? webhooks.signedLead : webhooks.unsignedLead}</p>
      ) : (
        <ShownSecret secret={secret} close={() => showSecret(null)} />
      )}
      <NoticeLine notice={notice} />
      <div class="row end">
        {isSigned && (
          <Button
            class="danger"
            disabled={isBusy}
            onClick={() => act(null)}
            text={webhooks.stopSigning}
          />
        )}
        <Button
          disabled={isBusy}
          onClick={() => act(makeSigningSecret())}
          text={isSigned ? webhooks.replaceSecret : webhooks.makeSecret}
        />
        <Button class="primary" onClick={close} text={t.close} />
      </div>
    </>
  );
}

interface ShownSecretProps {
  readonly secret: string;
  readonly close: () => void;
}

export function ShownSecret({ secret, close }: ShownSecretProps) {
  const { webhooks } = notificationMessages;
  return (
    <div class="card" role="status">
      <p>{webhooks.shownOnce}</p>
      <div class="listing">
        <output class="code">{secret}</output>
        <CopyButton text={secret} label={webhooks.secretTitle} />
      </div>
      <Button class="link" onClick={close} text={webhooks.saved} />
    </div>
  );
}
