import { useId } from 'preact/hooks';
import type { AdminProvider } from '../admin-answers.js';
import { formatPast } from '../../i18n/format.js';
import { formatCount } from '../format-count.js';
import { useProviderName } from '../provider-names.js';
import { texts } from '../i18n/texts.js';
import { Section } from '../../ui/section.js';
import { Legend, Numbers } from './chart-parts.js';

interface RechecksProps {
  readonly providers: readonly AdminProvider[];
  readonly isOn: boolean;
}

/** Outcomes with their own bar segment; the rest got no answer. */
const OUTCOMES = ['eligible', 'ineligible'] as const;

interface Part {
  readonly tone: 'good' | 'alarm' | 'caution' | 'quiet' | 'accent';
  readonly label: string;
  readonly count: number;
}

/** Re-checks by provider: the waiting ones, and those that this replica has finished. */
export function Rechecks({ providers, isOn }: RechecksProps) {
  const { rechecks } = texts;
  const nameOf = useProviderName();
  const lead = isOn ? rechecks.lead : rechecks.off;
  const checked = providers.filter(({ checks }) => isOn || checks.due > 0);
  return (
    <Section id="rechecks" title={rechecks.title} lead={lead}>
      {checked.length > 0 && (
        <div class="pair">
          <BarChart
            title={rechecks.waiting}
            none={rechecks.noneWaits}
            rows={checked.map(({ id, checks }) => ({
              name: nameOf(id),
              hint:
                checks.oldestDueAt === null ? '' : rechecks.oldest(formatPast(checks.oldestDueAt)),
              parts: [
                { tone: 'caution', label: rechecks.overdue, count: checks.overdue },
                { tone: 'accent', label: rechecks.due, count: checks.due - checks.overdue },
              ],
            }))}
          />
          <BarChart
            title={rechecks.done}
            none={rechecks.noneDone}
            rows={checked.map(({ id, checks }) => ({
              name: nameOf(id),
              hint: '',
              parts: doneParts(checks.done),
            }))}
          />
        </div>
      )}
    </Section>
  );
}

function doneParts(done: AdminProvider['checks']['done']): Part[] {
  const { rechecks } = texts;
  const all = Object.values(done).reduce((sum, count) => sum + count, 0);
  const [eligible = 0, ineligible = 0] = OUTCOMES.map((outcome) => done[outcome] ?? 0);
  return [
    { tone: 'good', label: rechecks.eligible, count: eligible },
    { tone: 'alarm', label: rechecks.ineligible, count: ineligible },
    { tone: 'quiet', label: rechecks.unknown, count: all - eligible - ineligible },
  ];
}

interface Row {
  readonly name: string;
  readonly hint: string;
  readonly parts: readonly Part[];
}

interface BarChartProps {
  readonly title: string;
  readonly none: string;
  readonly rows: readonly Row[];
}

/** A chart that is hidden from screen readers, which read the same numbers in the table below. */
function BarChart({ title, none, rows }: BarChartProps) {
  const id = useId();
  const totals = rows.map(({ parts }) => parts.reduce((sum, { count }) => sum + count, 0));
  const longest = Math.max(1, ...totals);
  const labels = rows[0]?.parts ?? [];
  const isEmpty = totals.every((total) => total === 0);
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id}>{title}</figcaption>
      {isEmpty ? (
        <p class="quiet">{none}</p>
      ) : (
        <>
          {rows.map((row) => (
            <Bar key={row.name} row={row} longest={longest} />
          ))}
          <Legend entries={labels} />
          <Numbers
            headings={[texts.rechecks.provider, ...labels.map(({ label }) => label)]}
            rows={rows.map(({ name, parts }) => ({
              name,
              counts: parts.map(({ count }) => count),
            }))}
          />
        </>
      )}
    </figure>
  );
}

interface BarProps {
  readonly row: Row;
  /** Count of the bar with the full width. */
  readonly longest: number;
}

function Bar({ row: { name, hint, parts }, longest }: BarProps) {
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  const amount = hint === '' ? formatCount(total) : `${formatCount(total)} · ${hint}`;
  let end = 0;
  return (
    <div>
      <p class="bar-label">
        <span>{name}</span>
        <span class="quiet">{amount}</span>
      </p>
      <svg
        class="bar tall"
        viewBox={`0 0 ${longest} 1`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect class="track" width={longest} height="1" />
        {parts.map(({ tone, label, count }) => {
          const start = end;
          end += count;
          return <rect key={label} class={tone} x={start} width={count} height="1" />;
        })}
      </svg>
    </div>
  );
}
