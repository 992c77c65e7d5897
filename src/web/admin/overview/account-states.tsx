import type { AdminOverview } from '../../../client/api/admin-client.js';
import { formatCount } from '../format-count.js';
import { listAddress } from '../route.js';
import { texts } from '../words/texts.js';

/** Above it the server counts no further. */
const MAX_COUNTED = 100_000;

interface AccountStatesProps {
  readonly counts: AdminOverview['accounts'];
}

/** Accounts by state, each with its share of all. */
export function AccountStates({ counts }: AccountStatesProps) {
  const { total, disabled, ineligible } = counts;
  const { overview } = texts;
  const isEstimate = total > MAX_COUNTED;
  const tiles = [
    { label: overview.all, count: total, tone: 'accent', state: '', isRounded: isEstimate },
    { label: overview.disabled, count: disabled, tone: 'alarm', state: 'disabled' },
    { label: overview.ineligible, count: ineligible, tone: 'caution', state: 'ineligible' },
  ];
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">{overview.accounts}</h2>
      <div class="tiles">
        {tiles.map(({ label, count, tone, state, isRounded = false }) => (
          <a key={label} class="count-tile" href={listAddress('accounts', { state })}>
            <span class="quiet">{label}</span>
            <strong>{amount(count, isRounded)}</strong>
            <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect class="track" width="100" height="4" />
              <rect class={tone} width={share(count, total)} height="4" />
            </svg>
          </a>
        ))}
      </div>
    </section>
  );
}

function amount(count: number, isRounded: boolean): string {
  if (isRounded) {
    return texts.overview.about(formatCount(count));
  }
  return count > MAX_COUNTED ? texts.overview.more(formatCount(MAX_COUNTED)) : formatCount(count);
}

/** Percent of the whole; what exists is never invisible. */
function share(count: number, total: number): number {
  return count === 0 ? 0 : Math.max(1.5, Math.min(100, (100 * count) / Math.max(total, 1)));
}
