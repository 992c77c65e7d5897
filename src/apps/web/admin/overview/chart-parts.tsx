import { texts } from '../i18n/texts.js';
import { CountTable } from '../tables.js';

interface LegendProps {
  readonly entries: readonly { readonly tone: string; readonly label: string }[];
}

export function Legend({ entries }: LegendProps) {
  return (
    <ul class="legend" aria-hidden="true">
      {entries.map(({ tone, label }) => (
        <li key={label}>
          <span class={`dot ${tone}`} />
          {label}
        </li>
      ))}
    </ul>
  );
}

/** The numbers of a chart, which screen readers read in its place. */
export function Numbers(props: Parameters<typeof CountTable>[0]) {
  return (
    <details>
      <summary>{texts.rechecks.table}</summary>
      <CountTable {...props} />
    </details>
  );
}
