import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { AdminActAnswer } from '../../client/api/admin-client.js';
import { Dialog, useDialog } from '../ui/dialog.js';
import { done, NoticeLine, useAction, type Notice, type Notify } from '../ui/notice.js';
import { words } from '../words/words.js';
import { useSession } from './session.js';
import { texts } from './words/texts.js';

const MAX_REASON = 200;

interface ActTexts {
  /** Of the button that opens the question. */
  readonly open: string;
  readonly title: string;
  /** What it does, in full. */
  readonly lead: string;
  /** Of the button that does it. */
  readonly submit: string;
  readonly done: string;
}

/** What an act needs of the page that shows what it changes. */
export interface ActResult {
  /** Receives what was done, and null when an act is begun. */
  readonly notify: Notify;
  readonly reload: () => void;
}

interface ActButtonProps extends ActResult {
  readonly texts: ActTexts;
  /** For screen readers, where several buttons have the same text. */
  readonly label?: string;
  readonly isDanger?: boolean;
  readonly isSmall?: boolean;
  /** What has to be confirmed besides the reason. */
  readonly consent?: string;
  readonly run: (reason: string) => Promise<AdminActAnswer>;
}

/** An act: it asks for the reason first, which the audit trail keeps. */
export function ActButton({
  texts: own,
  label,
  isDanger = false,
  isSmall = false,
  ...form
}: ActButtonProps) {
  const dialog = useDialog();
  // Another number makes a new form: what was typed before is gone.
  const [turn, setTurn] = useState(0);
  const open = () => {
    form.notify(null);
    setTurn(turn + 1);
    dialog.current?.showModal();
  };
  return (
    <>
      <button
        type="button"
        class={`${isDanger ? 'danger' : ''} ${isSmall ? 'small' : ''}`}
        aria-label={label}
        onClick={open}
      >
        {own.open}
      </button>
      <Dialog own={dialog} title={own.title}>
        {turn > 0 && (
          <ReasonForm
            key={turn}
            {...form}
            texts={own}
            isDanger={isDanger}
            close={() => dialog.current?.close()}
          />
        )}
      </Dialog>
    </>
  );
}

interface ReasonFormProps extends Pick<
  ActButtonProps,
  'texts' | 'isDanger' | 'consent' | 'run' | 'reload' | 'notify'
> {
  readonly close: () => void;
}

function ReasonForm(props: ReasonFormProps) {
  const { texts: own, isDanger, consent, run: act, reload, notify, close } = props;
  const { end } = useSession();
  const [reason, setReason] = useState('');
  const [isSure, setSure] = useState(consent === undefined);
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, end);
  const submit = (event: Event) => {
    event.preventDefault();
    run(async () => {
      const { changed } = await act(reason.trim());
      close();
      notify(done(changed ? own.done : texts.acts.unchanged));
      reload();
    });
  };
  return (
    <form onSubmit={submit}>
      <p>{own.lead}</p>
      <ReasonField reason={reason} setReason={setReason} />
      {consent !== undefined && <Consent text={consent} isGiven={isSure} give={setSure} />}
      <NoticeLine notice={notice} />
      <div class="row end">
        <button type="button" onClick={close}>
          {words.cancel}
        </button>
        <button
          type="submit"
          class={isDanger ? 'danger solid' : 'primary'}
          disabled={reason.trim() === '' || !isSure || isBusy}
        >
          {own.submit}
        </button>
      </div>
    </form>
  );
}

interface ReasonFieldProps {
  readonly reason: string;
  readonly setReason: (reason: string) => void;
}

function ReasonField({ reason, setReason }: ReasonFieldProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  // It is made after the dialog has opened, which `autofocus` would miss.
  useEffect(() => field.current?.focus(), []);
  return (
    <div class="field">
      <label for={`${id}-reason`}>{texts.acts.reason}</label>
      <input
        ref={field}
        id={`${id}-reason`}
        autocomplete="off"
        maxLength={MAX_REASON}
        value={reason}
        aria-describedby={`${id}-hint`}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <p id={`${id}-hint`} class="hint">
        {texts.acts.reasonHint}
      </p>
    </div>
  );
}

interface ConsentProps {
  readonly text: string;
  readonly isGiven: boolean;
  readonly give: (isGiven: boolean) => void;
}

function Consent({ text, isGiven, give }: ConsentProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isGiven}
        onChange={({ currentTarget }) => give(currentTarget.checked)}
      />
      {text}
    </label>
  );
}
