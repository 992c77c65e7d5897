import { useId, useState } from 'preact/hooks';
import type { AdminLogins } from '../../../../packages/client/api/admin-client.js';
import { formatDate } from '../../i18n/format.js';
import { formatCount } from '../format-count.js';
import { texts } from '../i18n/texts.js';
import { useSession } from '../session.js';
import { LiveNotice, useLive } from '../use-live.js';
import { Legend, Numbers } from './chart-parts.js';
import { Button } from '../../ui/button.js';

type Buckets = AdminLogins['buckets'];

const PERIODS = ['day', 'week'] as const;
const SERIES = [
  { name: 'logins', tone: 'accent' },
  { name: 'refusals', tone: 'alarm' },
] as const;

/** Logins and refusals over time. A failure here leaves the rest of the page as it is. */
export function Logins() {
  const { client } = useSession();
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>('day');
  const live = useLive(() => client.logins({ period }), period);
  const { logins } = texts;
  return (
    <section aria-labelledby="logins">
      <div class="card-head">
        <h2 id="logins">{logins.title}</h2>
        <div class="row" role="group" aria-label={logins.period}>
          {PERIODS.map((one) => (
            <Button
              key={one}
              class="small"
              aria-pressed={one === period}
              onClick={() => setPeriod(one)}
              text={logins[one]}
            />
          ))}
        </div>
      </div>
      <LiveNotice live={live} />
      {live.value !== null && <Chart buckets={live.value.buckets} />}
    </section>
  );
}

/** Screen readers get the sums and the table in place of the picture. */
function Chart({ buckets }: { readonly buckets: Buckets }) {
  const id = useId();
  const { logins } = texts;
  const sum = (name: 'logins' | 'refusals') =>
    formatCount(buckets.reduce((total, bucket) => total + bucket[name], 0));
  const [first, last] = [buckets[0], buckets.at(-1)];
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id}>{logins.sums(sum('logins'), sum('refusals'))}</figcaption>
      <Bars buckets={buckets} />
      {first !== undefined && last !== undefined && (
        <p class="bar-label quiet" aria-hidden="true">
          <span>{formatDate(first.at)}</span>
          <span>{logins.now}</span>
        </p>
      )}
      <Legend entries={SERIES.map(({ name, tone }) => ({ tone, label: logins[name] }))} />
      <Numbers
        headings={[logins.since, ...SERIES.map(({ name }) => logins[name])]}
        rows={buckets.map((bucket) => ({
          name: formatDate(bucket.at),
          counts: SERIES.map(({ name }) => bucket[name]),
        }))}
      />
    </figure>
  );
}

function Bars({ buckets }: { readonly buckets: Buckets }) {
  const highest = Math.max(1, ...buckets.map(({ logins, refusals }) => logins + refusals));
  return (
    <svg
      class="columns"
      viewBox={`0 0 ${buckets.length} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {buckets.map(({ at, logins, refusals }, index) => {
        const [lower, upper] = [logins / highest, refusals / highest];
        const column = { x: index + 0.1, width: 0.8 };
        return (
          <g key={at}>
            <rect class="track" {...column} height="1" />
            <rect class="accent" {...column} y={1 - lower} height={lower} />
            <rect class="alarm" {...column} y={1 - lower - upper} height={upper} />
          </g>
        );
      })}
    </svg>
  );
}
