import { useState } from 'preact/hooks';
import { words } from '../words/words.js';
import { Icon } from './icon.js';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for screen readers. */
  readonly label: string;
}

/** Copies a text, and shows that it did. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    // Refused: the text can be selected.
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <button
      type="button"
      class="plain small"
      aria-label={`${isCopied ? words.copied : words.copy}: ${label}`}
      onClick={copy}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  );
}
