import type { AdminProvider } from '../admin-answers.js';
import { Icon, type IconName } from '../../ui/icon.js';
import { formatRelative } from '../../words/format.js';
import { listAddress } from '../route.js';
import { texts } from '../words/texts.js';

const ICONS: Readonly<Record<AdminProvider['type'], IconName>> = {
  oidc: 'person',
  github: 'branch',
  certificate: 'certificate',
};

/** Whether the providers answer this replica. */
export function ProviderHealth({ providers }: { readonly providers: readonly AdminProvider[] }) {
  const { health } = texts;
  return (
    <section aria-labelledby="providers">
      <h2 id="providers">{health.title}</h2>
      {providers.length === 0 && <p class="empty">{health.none}</p>}
      <ul>
        {providers.map((provider) => (
          <li key={provider.id}>
            <span class="tile">
              <Icon name={ICONS[provider.type]} />
            </span>
            <div>
              <span class="titled">
                <a href={listAddress('accounts', { provider: provider.id })}>
                  {provider.displayName}
                </a>
                {provider.isRequired && <span class="badge">{health.required}</span>}
              </span>
              <span class="hint">{historyOf(provider)}</span>
            </div>
            <State provider={provider} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function State({ provider: { type, failingFor, lastAnswerAt } }: { provider: AdminProvider }) {
  const { health } = texts;
  if (failingFor !== null) {
    return (
      <span class="badge alarm">
        <Icon name="alert" />
        {health.failing}
      </span>
    );
  }
  if (type === 'certificate') {
    return null;
  }
  return lastAnswerAt === null ? (
    <span class="badge">{health.unknown}</span>
  ) : (
    <span class="badge good">
      <Icon name="check" />
      {health.answers}
    </span>
  );
}

/** What happened last, in one line. */
function historyOf({ type, failingFor, lastAnswerAt, lastFailure }: AdminProvider): string {
  const { health } = texts;
  const answered = lastAnswerAt === null ? [] : [health.answered(formatRelative(lastAnswerAt))];
  if (lastFailure !== null) {
    const { at, cause, detail } = lastFailure;
    const what = detail === null ? cause : `${cause}: ${detail}`;
    const failed = (failingFor === null ? health.failed : health.fails)(formatRelative(at), what);
    return [failed, ...answered].join(' · ');
  }
  return answered[0] ?? (type === 'certificate' ? health.local : health.silent);
}
