import { useState } from 'preact/hooks';
import { Dialog, useDialog } from '../../ui/dialog.js';
import { NoticeLine } from '../../ui/notice.js';
import { words } from '../../words/words.js';
import type { Endings } from './sign-out.js';

/** Deletes the account after a word was typed: a click can be a mistake. */
export function DeleteAccount({ endings }: { readonly endings: Endings }) {
  const dialog = useDialog();
  const { security } = words;
  return (
    <section aria-labelledby="delete">
      <div class="card-head">
        <div>
          <h2 id="delete">{security.delete}</h2>
          <p class="quiet">{security.deleteLead}</p>
        </div>
        <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
          {security.deleteOpen}
        </button>
      </div>
      <Dialog own={dialog} title={security.deleteTitle}>
        <Confirmation endings={endings} close={() => dialog.current?.close()} />
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
  const { security } = words;
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
      <div class="row end">
        <button type="button" onClick={close}>
          {security.deleteKeep}
        </button>
        <button type="submit" class="danger" disabled={!isTyped || endings.isBusy}>
          {security.deleteSubmit}
        </button>
      </div>
    </form>
  );
}
