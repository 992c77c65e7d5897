import { useRef, useState } from 'preact/hooks';
import { t } from '../i18n/messages.js';
import { copyText, selectText } from './copy-text.js';
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
