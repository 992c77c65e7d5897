import type {
  ComponentChildren,
  InputHTMLAttributes,
  PartialInputHTMLAttributes,
  PartialSelectHTMLAttributes,
  RefObject,
  TargetedSubmitEvent,
} from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type Notice, NoticeLine } from './notice.js';

/** Submits a form by code, in place of the browser's request. */
export function submitting(work: (values: FormData, form: HTMLFormElement) => void) {
  return (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    work(new FormData(event.currentTarget), event.currentTarget);
  };
}

/** The trimmed value of a field of a form; '' = none. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

interface FieldProps {
  /** The ids of the hint and the notice begin with it. */
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
}

type Own = 'id' | 'label' | 'role' | 'size' | 'type';

interface TextFieldProps
  extends FieldProps, Omit<PartialInputHTMLAttributes<HTMLInputElement>, Own> {
  readonly type?: 'text' | 'password' | 'url' | 'number' | 'datetime-local';
  /** Selects the text, which it refuses; null = none. Default: the form has it elsewhere. */
  readonly notice?: Notice | null;
  readonly own?: RefObject<HTMLInputElement | null>;
  readonly set?: (text: string) => void;
  /** Keeps the browser from corrections and capitals. */
  readonly isExact?: boolean;
}

/** An input under its label. The browser completes it only by an own `autocomplete`. */
export function TextField(props: TextFieldProps) {
  const { id, label, hint, notice, own, set, isExact = false, ...input } = props;
  const ownField = useRef<HTMLInputElement>(null);
  const field = own ?? ownField;
  useEffect(() => {
    if (notice) {
      field.current?.focus();
      field.current?.select();
    }
  }, [notice]);
  const about = [notice !== undefined && `${id}-problem`, hint !== undefined && `${id}-hint`];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        ref={field}
        id={id}
        autocomplete="off"
        aria-invalid={notice ? true : undefined}
        onInput={({ currentTarget }) => set?.(currentTarget.value)}
        aria-describedby={about.filter(Boolean).join(' ') || undefined}
        {...(isExact && { autocapitalize: 'none', spellcheck: false })}
        {...(input as InputHTMLAttributes)}
      />
      {notice !== undefined && <NoticeLine id={`${id}-problem`} notice={notice} />}
      <Hint id={id} text={hint} />
    </div>
  );
}

interface SelectFieldProps
  extends FieldProps, Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, Own> {
  /** Each value with its text. */
  readonly choices: readonly (readonly [value: string | number, text: string])[];
  /** The value that is chosen at first. With `value`, the field follows that. */
  readonly initial?: string | number | undefined;
}

/** A choice under its label. */
export function SelectField({ id, label, hint, choices, initial, ...select }: SelectFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} aria-describedby={hint === undefined ? undefined : `${id}-hint`} {...select}>
        {choices.map(([value, text]) => (
          <option key={value} value={value} selected={value === initial}>
            {text}
          </option>
        ))}
      </select>
      <Hint id={id} text={hint} />
    </div>
  );
}

function Hint({ id, text }: { readonly id: string; readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p id={`${id}-hint`} class="hint">
      {text}
    </p>
  );
}

interface CheckProps extends Omit<PartialInputHTMLAttributes<HTMLInputElement>, Own> {
  readonly label: ComponentChildren;
  /** A sentence below the text. */
  readonly hint?: string | undefined;
  readonly set?: (isOn: boolean) => void;
}

/** A checkbox before its text. */
export function Check({ label, hint, set, ...input }: CheckProps) {
  const id = useId();
  const box = (
    <label class="check">
      <input
        type="checkbox"
        onChange={({ currentTarget }) => set?.(currentTarget.checked)}
        aria-describedby={hint === undefined ? undefined : id}
        {...input}
      />
      {label}
    </label>
  );
  return hint === undefined ? (
    box
  ) : (
    <div class="field">
      {box}
      <p id={id} class="hint">
        {hint}
      </p>
    </div>
  );
}
