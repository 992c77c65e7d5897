import { brand } from '../brand.js';
import { t } from '../i18n/messages.js';
import { refusedMessages } from '../i18n/refused-messages.js';
import type { PersonRefusal } from './notice.js';
import { CopyButton } from './copy-button.js';

/** The text under the notice of a refusal. */
export function RefusalSteps({ code, accountId }: PersonRefusal) {
  return (
    <div class="steps">
      {refusedMessages.steps[code]}
      <RefusalHelp accountId={accountId} />
    </div>
  );
}

/** The account of a refused person, and who can help. @param accountId null = the page does not know it */
export function RefusalHelp({ accountId }: { readonly accountId: string | null }) {
  return (
    <dl class="help">
      {accountId !== null && <dt>{t.overview.id}</dt>}
      {accountId !== null && (
        <dd class="titled">
          <span class="code">{accountId}</span>
          <CopyButton text={accountId} label={t.overview.id} />
        </dd>
      )}
      <dt>{refusedMessages.askLabel}</dt>
      <dd>
        {brand.support === '' ? refusedMessages.ask : <Support />}
        {brand.support === '' && accountId !== null && ` ${refusedMessages.giveId}`}
      </dd>
    </dl>
  );
}

function Support() {
  const { support } = brand;
  // Other schemes must not become links, whatever wrote them into the page.
  return /^(https:\/\/|mailto:)/i.test(support) ? (
    <a href={support} target="_blank" rel="noreferrer">
      {support.replace(/^mailto:([^?]*).*$|^https:\/\//i, '$1')}
    </a>
  ) : (
    <>{support}</>
  );
}
