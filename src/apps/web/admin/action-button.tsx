import { useId, useState } from 'preact/hooks';
import type { AdminActAnswer } from '../../../packages/client/api/admin-client.js';
import { DialogButton } from '../ui/dialog.js';
import { Check, submitting, TextField } from '../ui/fields.js';
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

/** An action that first asks for a reason, which the audit log keeps. Absent for who may only read. */
export function ActionButton({
  textsOf,
  run,
  label,
  isDanger = false,
  isSmall = false,
  ...form
}: ActButtonProps) {
  const { caller } = useSession();
  // An open dialog keeps its question: another administrator may change the account meanwhile.
  const [asked, ask] = useState({ textsOf, run, isDanger });
  return caller.role !== 'operate' ? null : (
    <DialogButton
      open={textsOf().open}
      title={asked.textsOf().title}
      class={`${isDanger ? 'danger' : ''} ${isSmall ? 'small' : ''}`}
      aria-label={label}
      onOpen={() => {
        form.notify(null);
        ask({ textsOf, run, isDanger });
      }}
    >
      {(close) => <ReasonForm {...form} {...asked} close={close} />}
    </DialogButton>
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
  const id = useId();
  const { end } = useSession();
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  const [isSure, setSure] = useState(consent === undefined);
  const { notice, isBusy, run } = useNotedAction(end);
  const isIncomplete = reason.trim() === '' || (field !== undefined && text.trim() === '');
  const submit = () =>
    run(async () => {
      const { changed } = await act(reason.trim(), text.trim());
      close();
      notify(done(() => (changed ? textsOf().done : texts.acts.unchanged)));
      reload();
    });
  return (
    <form onSubmit={submitting(submit)}>
      <p>{textsOf().lead}</p>
      {field !== undefined && (
        <TextField
          {...field}
          {...{ maxLength: MAX_TEXT }}
          id={`${id}-text`}
          value={text}
          set={setText}
        />
      )}
      <ReasonField id={`${id}-reason`} value={reason} set={setReason} />
      {consent !== undefined && <Check label={consent} checked={isSure} set={setSure} />}
      <NoticeLine notice={notice} />
      <FormButtons
        close={close}
        submit={textsOf().submit}
        kind={isDanger ? 'danger solid' : 'primary'}
        isDisabled={isIncomplete || !isSure || isBusy}
      />
    </form>
  );
}

interface ReasonFieldProps {
  readonly id: string;
  readonly value: string;
  readonly set: (reason: string) => void;
}

function ReasonField(props: ReasonFieldProps) {
  const { reason, reasonHint } = texts.acts;
  return <TextField {...props} label={reason} hint={reasonHint} maxLength={MAX_REASON} />;
}
