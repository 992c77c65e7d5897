import { useState } from 'preact/hooks';
import type { CreatedInvitation } from '../../../client/api/admin-client.js';
import { INVITATION_LIMITS } from '../../../policy/flow/invitation-code.js';
import { Dialog, useDialog } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import { NoticeLine, useAction, type Notice, type Notify } from '../../ui/notice.js';
import { words } from '../../words/words.js';
import { textOf } from '../route.js';
import { useSession } from '../session.js';
import { texts } from '../words/texts.js';

const DAY_SECONDS = 86_400;
const LIFETIMES_DAYS = [1, 7, 30, 90, 365];
const DEFAULT_DAYS = 7;

interface CreateProps {
  /** Cleared when the form is opened. */
  readonly notify: Notify;
  readonly receive: (created: CreatedInvitation) => void;
}

/** Asks for the uses, the lifetime and the note of a new invitation. */
export function CreateButton({ notify, receive }: CreateProps) {
  const dialog = useDialog();
  // Another number makes a new form.
  const [turn, setTurn] = useState(0);
  const open = () => {
    notify(null);
    setTurn(turn + 1);
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" class="primary" onClick={open}>
        <Icon name="plus" />
        {texts.invitations.create}
      </button>
      <Dialog own={dialog} title={texts.invitations.createTitle}>
        {turn > 0 && <Form key={turn} receive={receive} close={() => dialog.current?.close()} />}
      </Dialog>
    </>
  );
}

interface FormProps extends Pick<CreateProps, 'receive'> {
  readonly close: () => void;
}

function Form({ receive, close }: FormProps) {
  const { client, end } = useSession();
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, end);
  const { invitations } = texts;
  const submit = (event: Event) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const note = textOf(values, 'note');
    run(async () => {
      const created = await client.createInvitation({
        uses: Number(textOf(values, 'uses')),
        expiresInSeconds: Number(textOf(values, 'days')) * DAY_SECONDS,
        ...(note !== '' && { note }),
      });
      close();
      receive(created);
    });
  };
  return (
    <form onSubmit={submit}>
      <Fields />
      <NoticeLine notice={notice} />
      <div class="row end">
        <button type="button" onClick={close}>
          {words.cancel}
        </button>
        <button type="submit" class="primary" disabled={isBusy}>
          {invitations.submit}
        </button>
      </div>
    </form>
  );
}

function Fields() {
  const { invitations } = texts;
  const { uses, noteLength } = INVITATION_LIMITS;
  const number = { type: 'number' as const, min: 1, max: uses, defaultValue: '1', required: true };
  return (
    <>
      <div class="field">
        <label for="uses">{invitations.uses}</label>
        <input id="uses" name="uses" {...number} />
      </div>
      <div class="field">
        <label for="days">{invitations.lifetime}</label>
        <select id="days" name="days">
          {LIFETIMES_DAYS.map((days) => (
            <option key={days} value={days} selected={days === DEFAULT_DAYS}>
              {invitations.days(days)}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="note">{invitations.note}</label>
        <input
          id="note"
          name="note"
          autocomplete="off"
          maxLength={noteLength}
          aria-describedby="note-hint"
        />
        <p id="note-hint" class="hint">
          {invitations.noteHint}
        </p>
      </div>
    </>
  );
}
