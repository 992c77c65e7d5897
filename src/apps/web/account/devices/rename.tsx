import { shownName, storedName } from '../../browser-name.js';
import { t } from '../../i18n/messages.js';
import { DialogButton } from '../../ui/dialog.js';
import { submitting, TextField, textOf } from '../../ui/fields.js';
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

export function Rename({ id, name, title, label, isBusy, rename }: RenameProps) {
  const submit = (close: () => void) =>
    submitting((values) => {
      close();
      rename(storedName(textOf(values, 'name')));
    });
  return (
    <DialogButton open={t.devices.rename} title={title} aria-label={label} disabled={isBusy}>
      {(close) => (
        <form onSubmit={submit(close)}>
          <TextField
            id={`name-${id}`}
            name="name"
            label={t.devices.name}
            defaultValue={shownName(name)}
            maxLength={64}
            pattern=".*\S.*"
            required
          />
          <FormButtons close={close} submit={t.save} />
        </form>
      )}
    </DialogButton>
  );
}
