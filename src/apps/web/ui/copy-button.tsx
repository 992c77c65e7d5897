import { useRef, useState } from 'preact/hooks';
import { t } from '../i18n/messages.js';
import { Icon } from './icon.js';

interface CopyButtonProps {
  readonly text: string;
  /** Name of the text, for screen readers. */
  readonly label: string;
}

/** Selects the text if copying fails. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [copied, setCopied] = useState<{ readonly text: string; readonly done: boolean } | null>(
    null,
  );
  const button = useRef<HTMLButtonElement>(null);
  const copy = async () => {
    const done = await copyText(text);
    setCopied({ text, done });
    selectText(done ? null : (button.current?.previousElementSibling ?? null));
  };
  const outcome = copied?.text === text ? copied.done : null;
  return (
    <>
      <button
        ref={button}
        type="button"
        class="plain small"
        aria-label={`${outcome === true ? t.copied : t.copy}: ${label}`}
        onClick={() => void copy()}
      >
        <Icon name={outcome === true ? 'check' : 'copy'} />
      </button>
      {outcome === false && (
        <span class="hint whole" role="alert">
          {t.copyRefused}
        </span>
      )}
    </>
  );
}

/**
 * Without the clipboard API of secure contexts, an older command copies the selection.
 *
 * @returns false if the browser refuses both, so that the person must copy the text
 */
export async function copyText(text: string): Promise<boolean> {
  // Undefined on plain HTTP.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  try {
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return true;
    }
  } catch {
    // Not permitted: the command below has its own permission.
  }
  return copySelected(text);
}

export function selectText(element: Element | null): void {
  if (element !== null) {
    getSelection()?.selectAllChildren(element);
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const field = document.createElement('textarea');
  field.className = 'unseen';
  field.readOnly = true;
  field.value = text;
  // With an open dialog, only its content can be selected.
  (focused?.closest('dialog') ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    focused?.focus();
  }
}
