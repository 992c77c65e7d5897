import { t } from '../../i18n/messages.js';
import { Badge } from '../../ui/badge.js';
import type { accountMode } from '../account-pins.js';

/** The mode that this browser assumes of the account. */
export function ModeBadge({ mode }: { readonly mode: ReturnType<typeof accountMode> }) {
  const { e2ee, plain } = t.overview;
  return mode === 'e2ee' ? (
    <Badge tone="accent" icon="lock" text={e2ee} />
  ) : (
    <Badge icon="shield" text={plain} />
  );
}
