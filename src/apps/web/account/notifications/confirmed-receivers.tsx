import { useEffect } from 'preact/hooks';
import type { SettingsFields } from '../../../../packages/client/settings/account-settings.js';
import {
  confirmReceivers,
  isConfirmedReceiver,
  readReceivers,
} from '../../../../packages/client/settings/receivers.js';
import { t } from '../../i18n/messages.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import { clientFor } from '../../server.js';
import { Button } from '../../ui/button.js';
import { Check, submitting } from '../../ui/fields.js';
import { done, NoticeLine, useNotedAction } from '../../ui/notice.js';
import { Section } from '../../ui/section.js';
import { receiverFacts, receiverName } from '../devices/receivers.js';
import type { SectionProps } from '../use-account.js';
import type { PartProps } from './push-preferences.js';
import { Badge } from '../../ui/badge.js';

interface ConfirmedReceiversProps
  extends Omit<PartProps, 'preferences'>, Pick<SectionProps, 'account' | 'own'> {
  readonly fields: SettingsFields;
}

/** The devices to which senders may send text: the key of the account confirms them. */
export function ConfirmedReceivers(props: ConfirmedReceiversProps) {
  const { account, settings, own } = props;
  const { notice, isBusy, receivers, waiting, submit } = useConfirmation(props);
  if (settings.access.content === null || account.devices.length === 0) {
    return null;
  }
  const { receivers: texts } = notificationMessages;
  return (
    <Section id="confirmed" title={texts.title} lead={texts.lead}>
      {waiting.length === 0 ? (
        <Badge tone="good" icon="check" text={texts.all} />
      ) : (
        <form onSubmit={submit}>
          <p>{receivers === null ? texts.none : texts.some}</p>
          <Choices devices={waiting} own={own} />
          <Button type="submit" disabled={isBusy} text={texts.confirm} />
        </form>
      )}
      <NoticeLine notice={notice} />
    </Section>
  );
}

function useConfirmation(props: ConfirmedReceiversProps) {
  const { account, fields, settings, session, notify, endSession, reload } = props;
  const { notice, isBusy, run } = useNotedAction(endSession);
  const { devices } = account;
  const receivers = readReceivers(fields);
  const waiting = devices.filter(
    ({ token }) => receivers === null || !isConfirmedReceiver(receivers, token),
  );
  const confirm = async (tokens: readonly string[]) => {
    await confirmReceivers(clientFor(session.token), settings.access, tokens);
    settings.reload();
  };
  // A removed device has to be confirmed again: it could still have a session, and add itself.
  const isStale = (receivers?.size ?? 0) > devices.length - waiting.length;
  useEffect(() => {
    if (isStale) {
      run(() => confirm([]));
    }
  }, [isStale]);
  const submit = submitting((values) =>
    run(async () => {
      await confirm(values.getAll('token').map(String));
      notify(done(() => notificationMessages.receivers.confirmed));
      reload();
    }),
  );
  return { notice, isBusy, receivers, waiting, submit };
}

interface ChoicesProps extends Pick<ConfirmedReceiversProps, 'own'> {
  readonly devices: ConfirmedReceiversProps['account']['devices'];
}

function Choices({ devices, own }: ChoicesProps) {
  return devices.map((device) => (
    <Check
      key={device.id}
      name="token"
      value={device.token}
      label={receiverName(device) + (device.token === own ? ` (${t.devices.thisBrowser})` : '')}
      hint={receiverFacts(device)}
    />
  ));
}
