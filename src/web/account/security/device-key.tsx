import { useState } from 'preact/hooks';
import { requireOwnKey } from '../../../client/api/own-key.js';
import type { DeviceKey } from '../../../client/crypto/device-key.js';
import { t } from '../../i18n/messages.js';
import { clientFor } from '../../server.js';
import { done, NoticeLine } from '../../ui/notice.js';
import { SectionHead } from '../../ui/section-head.js';
import { KeyForm } from '../key-forms.js';
import { useRecentKey } from '../key-memory.js';
import { KeyView } from '../key-view.js';
import type { SectionProps } from '../use-account.js';

type DeviceKeyProps = Pick<SectionProps, 'session' | 'noteKey'>;

/** Checks that the owner has the key, and shows it for another print. */
export function DeviceKeySection({ session, noteKey }: DeviceKeyProps) {
  const { accountId, isKeyEntered = false } = session;
  const [isChecked, setChecked] = useState(false);
  const [isShown, show] = useState(false);
  const { security } = t;
  const key = useRecentKey(accountId);
  const check = async (entered: DeviceKey, isTyped: boolean) => {
    await requireOwnKey(clientFor(), entered, accountId);
    noteKey(entered, isTyped);
    setChecked(true);
    show(true);
  };
  const keyLead = key === null ? security.keyLead : security.keyKept;
  const lead = isKeyEntered ? keyLead : security.keyUnchecked;
  return (
    <section aria-labelledby="check-key">
      <SectionHead id="check-key" title={security.key} lead={lead} />
      {isChecked && key !== null && <NoticeLine notice={done(() => security.keyRight)} />}
      {(key === null || (!isKeyEntered && !isChecked)) && (
        <KeyForm
          use={check}
          label={security.keyCheck}
          // A passkey does not prove that the owner saved the key.
          keptFor={isKeyEntered ? accountId : undefined}
          keptLabel={security.keyShow}
          isSecondary
          isScanned
        />
      )}
      {key !== null && (
        <KeyPrint secret={key.secret} {...{ accountId, isShown }} show={() => show(true)} />
      )}
    </section>
  );
}

interface KeyPrintProps {
  readonly secret: string;
  readonly accountId: string;
  readonly isShown: boolean;
  readonly show: () => void;
}

function KeyPrint({ secret, accountId, isShown, show }: KeyPrintProps) {
  const { security } = t;
  return isShown ? (
    <div class="field">
      <label for="own-key">{security.keyView}</label>
      <KeyView id="own-key" secret={secret} accountId={accountId} />
    </div>
  ) : (
    <div class="row">
      <button type="button" onClick={show}>
        {security.keyShow}
      </button>
    </div>
  );
}
