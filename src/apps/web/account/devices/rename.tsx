import type { TargetedSubmitEvent } from 'preact';
import { shownName, storedName } from '../../browser-name.js';
import { t } from '../../i18n/messages.js';
import { Dialog, useDialog } from '../../ui/dialog.js';
import { FormButtons } from '../../ui/form-buttons.js';

interface RenameProps {
  readonly id: string;
  /** The current name; empty where there is none. */
  readonly name: string;
  readonly title: string;
  readonly label: string;
  readonly isBusy: boolean;
  readonly rename: (name: string) => void;
}

export function Rename({ title, label, isBusy, ...form }: RenameProps) {
  const dialog = useDialog();
  return (
    <>
      <button
        type="button"
        aria-label={label}
        disabled={isBusy}
        onClick={() => dialog.current?.showModal()}
      >
        {t.devices.rename}
      </button>
      <Dialog own={dialog} title={title}>
        <RenameForm {...form} close={() => dialog.current?.close()} />
      </Dialog>
    </>
  );
}

interface RenameFormProps extends Pick<RenameProps, 'id' | 'name' | 'rename'> {
  readonly close: () => void;
}

function RenameForm({ id, name, rename, close }: RenameFormProps) {
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get('name');
    close();
    rename(typeof typed === 'string' ? storedName(typed.trim()) : '');
  };
  return (
    <form onSubmit={submit}>
      <div class="field">
        <label for={`name-${id}`}>{t.devices.name}</label>
        <input
          id={`name-${id}`}
          name="name"
          defaultValue={shownName(name)}
          maxLength={64}
          pattern=".*\S.*"
          autocomplete="off"
          required
        />
      </div>
      <FormButtons close={close} submit={t.save} />
    </form>
  );
}
