import type { AdminAccount } from '../../../client/api/admin-client.js';
import type { AdminIdentity } from '../admin-answers.js';
import { formatRelative } from '../../words/format.js';
import { words } from '../../words/words.js';
import { texts } from '../words/texts.js';

const TONES = { eligible: 'good', ineligible: 'alarm', unknown: '' } as const;

/** The identities of an account, with what their providers last said of them. */
export function Identities({ account }: { readonly account: AdminAccount }) {
  const { identities, explain } = account;
  const { detail } = texts;
  return (
    <section aria-labelledby="identities">
      <h2 id="identities">{detail.identities}</h2>
      {identities.length === 0 && <p class="empty">{detail.noIdentity}</p>}
      <ul>
        {identities.map((identity) => (
          <li key={identity.provider}>
            <div>
              <span class="titled">
                <strong>{identity.provider}</strong>
                <span class={`badge ${TONES[identity.status]}`}>
                  {words.security[identity.status]}
                </span>
              </span>
              <span>{identity.email ?? identity.login ?? identity.subject}</span>
              <span class="hint">{checksOf(identity)}</span>
            </div>
            <Sentences
              sentences={
                explain.providers.find(({ provider }) => provider === identity.provider)
                  ?.sentences ?? []
              }
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function checksOf({ reason, checkedAt, nextCheckAt, failures }: AdminIdentity): string {
  const { security } = words;
  return [
    ...(reason === null ? [] : [reason]),
    ...(checkedAt === null ? [] : [security.checked(formatRelative(checkedAt))]),
    ...(nextCheckAt === null ? [] : [security.nextCheck(formatRelative(nextCheckAt))]),
    ...(failures === 0 ? [] : [texts.detail.failures(failures)]),
  ].join(' · ');
}

function Sentences({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <details class="whole">
      <summary>{texts.detail.facts}</summary>
      <ul class="plain-list" lang="en">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </details>
  );
}
