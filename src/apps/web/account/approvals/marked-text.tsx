import type { MarkedLine } from '../../../../packages/client/approvals/marked-text.js';

/** A line with its marks. Texts are never styled by what they say. */
export function MarkedText({ line }: { readonly line: MarkedLine }) {
  return (
    <span class="line">
      {line.length === 0
        ? '\u00a0'
        : line.map((piece, index) =>
            typeof piece === 'string' ? piece : <mark key={index}>{piece.mark}</mark>,
          )}
    </span>
  );
}
