import { CopyButton } from './copy-button.js';

/** Terminal text. A long text scrolls, also with the keyboard. */
export function Listing({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="listing">
      <pre class="code" tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
