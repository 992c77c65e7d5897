import type { AdminAccount } from '../../../client/api/admin-client.js';
import { Icon } from '../../ui/icon.js';
import { texts } from '../words/texts.js';

/** Whether the server admits the account, and by what; the reasons are in the server's own words. */
export function Decision({ explain }: Pick<AdminAccount, 'explain'>) {
  const { decision, code, reasons } = explain;
  const { detail } = texts;
  const isAllowed = decision === 'allowed';
  return (
    <section class={isAllowed ? 'decision' : 'decision refused'} aria-labelledby="decision">
      <h2 id="decision" class="titled">
        <Icon name={isAllowed ? 'check' : 'alert'} />
        {code === null ? detail.allowed : detail.refused[code]}
      </h2>
      <ul class="plain-list" lang="en">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </section>
  );
}
