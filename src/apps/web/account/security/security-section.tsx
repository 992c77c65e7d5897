import { useState } from 'preact/hooks';
import { t } from '../../i18n/messages.js';
import type { Endings, SectionProps } from '../use-account.js';
import { Identities } from './identities.js';
import { SignOutEverywhere } from './sign-out.js';
import { Button } from '../../ui/button.js';
import { NoticeLine, done } from '../../ui/notice.js';
import { DialogButton } from '../../ui/dialog.js';
import { submitting, TextField } from '../../ui/fields.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Section } from '../../ui/section.js';
import { FormButtons } from '../../ui/form-buttons.js';
import { accountMode } from '../account-pins.js';
import { keptKeyOf } from '../tab-state.js';
import { requireOwnKey } from '../../../../packages/client/api/own-key.js';
import type { DeviceKey } from '../../../../packages/client/crypto/device-key.js';
import { clientFor } from '../../server.js';
import { KeyForm } from '../key-forms.js';
import { useRecentKey } from '../key-memory.js';
import { KeyView } from '../key-view.js';
import { ModeBadge } from './mode-badge.js';

const KeepKey = lazyPart(() => import('./keep-key.js'), 'KeepKey');

export function SecuritySection(props: SectionProps) {
  const { account, endings } = props;
  const { id, keyMode, encryptionMode } = account.profile;
  const [forgotten, setForgotten] = useState(0);
  return (
    <>
      <Identities {...props} />
      <Encryption {...props} />
      {/* Replaced when the key is forgotten, because it shows the key. */}
      {keyMode === 'keyed' && <DeviceKeySection key={forgotten} {...props} />}
      {keyMode === 'keyed' && (encryptionMode === 'e2ee' || keptKeyOf(id) !== null) && (
        <KeepKey {...props} onForgotten={() => setForgotten((count) => count + 1)} />
      )}
      <Section
        id="sign-out"
        title={t.security.sessions}
        lead={t.security.sessionsLead}
        action={<SignOutEverywhere endings={endings} />}
      />
      <DeleteAccount endings={endings} />
    </>
  );
}

/** Requires a confirmation word, because a click can be a mistake. */
function DeleteAccount({ endings }: { readonly endings: Endings }) {
  const { security } = t;
  const button = (
    <DialogButton open={security.deleteOpen} title={security.deleteTitle} class="danger">
      {(close) => <Confirmation {...{ endings, close }} />}
    </DialogButton>
  );
  return <Section id="delete" title={security.delete} lead={security.deleteLead} action={button} />;
}

interface ConfirmationProps {
  readonly endings: Endings;
  readonly close: () => void;
}

function Confirmation({ endings, close }: ConfirmationProps) {
  const [typed, setTyped] = useState('');
  const { security } = t;
  const isTyped = typed.trim().toLowerCase() === security.deleteWord;
  return (
    <form onSubmit={submitting(endings.deleteAccount)}>
      <p>{security.deleteHint}</p>
      <TextField
        id="delete-word"
        label={security.deleteLabel(security.deleteWord)}
        value={typed}
        set={setTyped}
        isExact
      />
      <NoticeLine notice={endings.notice} />
      <FormButtons
        cancel={security.deleteKeep}
        close={close}
        submit={security.deleteSubmit}
        kind="danger"
        isDisabled={!isTyped || endings.isBusy}
      />
    </form>
  );
}

/** Loaded on demand, because few servers leave the choice to their accounts. */
const ChangeEncryption = lazyPart(() => import('./change-encryption.js'), 'ChangeEncryption');

function Encryption(props: SectionProps) {
  const { profile, features } = props.account;
  const { security } = t;
  const mode = accountMode(profile);
  const isSealed = mode === 'e2ee';
  const isConfirmed = mode === profile.encryptionMode;
  const isChoice = features.capabilities.encryption?.allowAccountOptOut === true;
  return (
    <Section id="encryption" title={security.encryption} action={<ModeBadge mode={mode} />}>
      <p>{isSealed ? security.e2ee : security.plain}</p>
      {!isConfirmed && <p class="problem">{security.modeDiffers}</p>}
      {isConfirmed && isChoice && profile.keyMode === 'keyed' && <ChangeEncryption {...props} />}
    </Section>
  );
}

type DeviceKeyProps = Pick<SectionProps, 'session' | 'noteKey'>;

/** Checks that the owner has the key, and shows it for another print. */
function DeviceKeySection({ session, noteKey }: DeviceKeyProps) {
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
  const isAsked = key === null || (!isKeyEntered && !isChecked);
  return (
    <Section id="check-key" title={security.key} lead={lead}>
      {isChecked && key !== null && <NoticeLine notice={done(() => security.keyRight)} />}
      {isAsked && (
        <KeyForm
          use={check}
          label={security.keyCheck}
          // A passkey does not prove that the owner saved the key.
          keptFor={isKeyEntered ? accountId : undefined}
          keptLabel={security.keyShow}
          isScanned
        />
      )}
      {key !== null && (
        <KeyPrint
          secret={key.secret}
          {...{ accountId, isShown, isAsked }}
          show={() => show(true)}
        />
      )}
    </Section>
  );
}

interface KeyPrintProps {
  readonly secret: string;
  readonly accountId: string;
  readonly isShown: boolean;
  /** True below a form with a button of its own, which comes first. */
  readonly isAsked: boolean;
  readonly show: () => void;
}

function KeyPrint({ secret, accountId, isShown, isAsked, show }: KeyPrintProps) {
  return isShown ? (
    <div class="field">
      <label for="own-key">{t.security.keyView}</label>
      <KeyView id="own-key" secret={secret} accountId={accountId} />
    </div>
  ) : (
    <div class="row">
      <Button class={isAsked ? 'link' : ''} onClick={show} text={t.security.keyShow} />
    </div>
  );
}
