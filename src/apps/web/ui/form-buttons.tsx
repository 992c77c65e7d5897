import { Button } from './button.js';
import { t } from '../i18n/messages.js';

interface FormButtonsProps {
  /** Default: Cancel. */
  readonly cancel?: string;
  readonly close: () => void;
  readonly submit: string;
  /** Default: the button submits its form. */
  readonly confirm?: () => void;
  readonly kind?: 'primary' | 'danger' | 'danger solid';
  readonly isDisabled?: boolean;
}

export function FormButtons(props: FormButtonsProps) {
  const { cancel = t.cancel, close, submit, confirm, kind = 'primary', isDisabled = false } = props;
  const type = confirm === undefined ? 'submit' : 'button';
  return (
    <div class="row end">
      <Button autofocus={confirm !== undefined} onClick={close} text={cancel} />
      <Button type={type} class={kind} disabled={isDisabled} onClick={confirm} text={submit} />
    </div>
  );
}
