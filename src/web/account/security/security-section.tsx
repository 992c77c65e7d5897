import { useState } from 'preact/hooks';
import { t } from '../../i18n/messages.js';
import type { Endings, SectionProps } from '../use-account.js';
import { Identities } from './identities.js';
import { SignOutEverywhere } from './sign-out.js';
import { NoticeLine } from '../../ui/notice.js';
import { DeviceKeySection } from './device-key.js';
import { Encryption } from './encryption.js';
import { Dialog, useDialog } from '../../ui/dialog.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { SectionHead } from '../../ui/section-head.js';
import { FormButtons } from '../../ui/form-buttons.js';
import { keptKeyOf } from '../tab-state.js';
import type { KeepKeyProps } from './keep-key.js';

const KeepKey = lazyPart<KeepKeyProps>(async () => {
  const { KeepKey: loaded } = await import('./keep-key.js');
  await (await import('../../i18n/keep-messages.js')).loadKeepMessages();
  return loaded;
});

export function SecuritySection(props: SectionProps) {
  const { account, endings } = props;
  const { id, keyMode, encryptionMode } = account.profile;
  const [forgotten, setForgotten] = useState(0);
  const { security } = t;
  return (
    <>
      <Identities {...props} />
      <Encryption {...props} />
      {/* Replaced when the key is forgotten, because it shows the key. */}
      {keyMode === 'keyed' && <DeviceKeySection key={forgotten} {...props} />}
      {keyMode === 'keyed' && (encryptionMode === 'e2ee' || keptKeyOf(id) !== null) && (
        <KeepKey {...props} onForgotten={() => setForgotten((count) => count + 1)} />
      )}
      <section aria-labelledby="sign-out">
        <SectionHead id="sign-out" title={security.sessions} lead={security.sessionsLead}>
          <SignOutEverywhere endings={endings} />
        </SectionHead>
      </section>
      <DeleteAccount endings={endings} />
    </>
  );
}

/** Requires a confirmation word, because a click can be a mistake. */
function DeleteAccount({ endings }: { readonly endings: Endings }) {
  const dialog = useDialog();
  const [openings, setOpenings] = useState(0);
  const { security } = t;
  return (
    <section aria-labelledby="delete">
      <SectionHead id="delete" title={security.delete} lead={security.deleteLead}>
        <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
          {security.deleteOpen}
        </button>
      </SectionHead>
      <Dialog
        own={dialog}
        title={security.deleteTitle}
        onClose={() => setOpenings((count) => count + 1)}
      >
        {/* Replaced, so that the typed word is not there when the dialog opens again. */}
        <Confirmation key={openings} endings={endings} close={() => dialog.current?.close()} />
      </Dialog>
    </section>
  );
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
    <form
      onSubmit={(event) => {
        event.preventDefault();
        endings.deleteAccount();
      }}
    >
      <p>{security.deleteHint}</p>
      <div class="field">
        <label for="delete-word">{security.deleteLabel(security.deleteWord)}</label>
        <input
          id="delete-word"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
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
