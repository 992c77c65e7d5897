import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { AdminActAnswer } from '../../../packages/client/api/admin-client.js';
import { Dialog, useDialog } from '../ui/dialog.js';
import { done, NoticeLine, type Notify, useNotedAction } from '../ui/notice.js';
import { useSession } from './session.js';
import { texts } from './i18n/texts.js';
import { FormButtons } from '../ui/form-buttons.js';

const MAX_REASON = 200;
const MAX_TEXT = 320;

interface ActTexts {
  readonly open: string;
  readonly title: string;
  readonly lead: string;
  readonly submit: string;
  readonly done: string;
}

export interface ActionResult {
  /** Receives the result, and null when an action starts. */
  readonly notify: Notify;
  readonly reload: () => void;
}

interface ActButtonProps extends ActionResult {
  /** Called again after a change of language. */
  readonly textsOf: () => ActTexts;
  /** For screen readers, where several buttons have the same text. */
  readonly label?: string;
  readonly isDanger?: boolean;
  readonly isSmall?: boolean;
  /** A checkbox that has to be ticked in addition to the reason. */
  readonly consent?: string;
  /** A text field before the reason; its text is passed to `run`. */
  readonly field?: { readonly label: string; readonly hint: string };
  readonly run: (reason: string, text: string) => Promise<AdminActAnswer>;
}

/** An action that first asks for a reason, which the audit log keeps. */
export function ActionButton({
  textsOf,
  label,
  isDanger = false,
  isSmall = false,
  ...form
}: ActButtonProps) {
  const dialog = useDialog();
  const own = textsOf();
  // The key of the form: a new number clears its fields.
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
            textsOf={textsOf}
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
  'textsOf' | 'isDanger' | 'consent' | 'field' | 'run' | 'reload' | 'notify'
> {
  readonly close: () => void;
}

function ReasonForm(props: ReasonFormProps) {
  const { textsOf, isDanger, consent, field, run: act, reload, notify, close } = props;
  const own = textsOf();
  const why = { label: texts.acts.reason, hint: texts.acts.reasonHint, most: MAX_REASON };
  const { end } = useSession();
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  const [isSure, setSure] = useState(consent === undefined);
  const { notice, isBusy, run } = useNotedAction(end);
  const isIncomplete = reason.trim() === '' || (field !== undefined && text.trim() === '');
  const submit = (event: Event) => {
    event.preventDefault();
    run(async () => {
      const { changed } = await act(reason.trim(), text.trim());
      close();
      notify(done(() => (changed ? textsOf().done : texts.acts.unchanged)));
      reload();
    });
  };
  return (
    <form onSubmit={submit}>
      <p>{own.lead}</p>
      {field !== undefined && (
        <TextField {...field} most={MAX_TEXT} value={text} setValue={setText} hasFocus />
      )}
      <TextField {...why} value={reason} setValue={setReason} hasFocus={field === undefined} />
      {consent !== undefined && <Consent text={consent} isGiven={isSure} give={setSure} />}
      <NoticeLine notice={notice} />
      <FormButtons
        close={close}
        submit={own.submit}
        kind={isDanger ? 'danger solid' : 'primary'}
        isDisabled={isIncomplete || !isSure || isBusy}
      />
    </form>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly hint: string;
  /** Characters. */
  readonly most: number;
  readonly value: string;
  readonly setValue: (value: string) => void;
  readonly hasFocus: boolean;
}

function TextField({ label, hint, most, value, setValue, hasFocus }: TextFieldProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  // The field is created after the dialog has opened, so `autofocus` would not work.
  useEffect(() => {
    if (hasFocus) {
      field.current?.focus();
    }
  }, [hasFocus]);
  return (
    <div class="field">
      <label for={`${id}-text`}>{label}</label>
      <input
        ref={field}
        id={`${id}-text`}
        autocomplete="off"
        maxLength={most}
        value={value}
        aria-describedby={`${id}-hint`}
        onInput={({ currentTarget }) => setValue(currentTarget.value)}
      />
      <p id={`${id}-hint`} class="hint">
        {hint}
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
