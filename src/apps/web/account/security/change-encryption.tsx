import { changeEncryption } from '../../../../packages/client/settings/encryption-change.js';
import { requireOwnKey } from '../../../../packages/client/api/own-key.js';
import type { DeviceKey } from '../../../../packages/client/crypto/device-key.js';
import { encryptionMessages } from '../../i18n/encryption-messages.js';
import { clientFor } from '../../server.js';
import { DialogButton } from '../../ui/dialog.js';
import { done } from '../../ui/notice.js';
import { pinsOf } from '../account-pins.js';
import { KeyForm } from '../key-forms.js';
import type { SectionProps } from '../use-account.js';

export { loadEncryptionMessages as loadTexts } from '../../i18n/encryption-messages.js';

type ChangeEncryptionProps = Pick<
  SectionProps,
  'account' | 'session' | 'endSession' | 'notify' | 'reload' | 'noteKey'
>;

/** Always asks for the key: the change concerns everything that the account stores. */
export function ChangeEncryption(props: ChangeEncryptionProps) {
  const { account, session, endSession, notify, reload, noteKey } = props;
  const isSealed = account.profile.encryptionMode === 'e2ee';
  const toMode = isSealed ? 'plain' : 'e2ee';
  const messages = encryptionMessages[toMode];
  const change = async (key: DeviceKey, close: () => void) => {
    await changeWith(key, session, toMode);
    close();
    noteKey(key);
    notify(done(() => encryptionMessages[toMode].done));
    reload();
  };
  return (
    <div class="row">
      <DialogButton open={messages.open} title={messages.title}>
        {(close) => (
          <>
            <p>{messages.hint}</p>
            <KeyForm
              id="encryption-key"
              use={(key) => change(key, close)}
              endSession={endSession}
              label={messages.submit}
              cancel={close}
            />
          </>
        )}
      </DialogButton>
    </div>
  );
}

async function changeWith(
  key: DeviceKey,
  { token, accountId }: ChangeEncryptionProps['session'],
  toMode: 'e2ee' | 'plain',
): Promise<void> {
  const { AccountContent } = await import('../../../../packages/client/crypto/account-content.js');
  await requireOwnKey(clientFor(), key, accountId);
  const content = new AccountContent(key.bytes, accountId);
  await changeEncryption(clientFor(token), { content, pins: pinsOf(accountId) }, toMode);
}
