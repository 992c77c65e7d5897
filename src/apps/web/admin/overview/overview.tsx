import { DismissibleFindings } from '../policy/findings.js';
import { Head } from '../head.js';
import { listAddress } from '../route.js';
import { useSession } from '../session.js';
import { LiveNotice, useLive } from '../use-live.js';
import { Section } from '../../ui/section.js';
import { texts } from '../i18n/texts.js';
import { Logins } from './login-chart.js';
import { Rechecks } from './rechecks.js';
import type { AdminOverview } from '../../../../packages/client/api/admin-client.js';
import { formatCount, MAX_COUNTED } from '../format-count.js';
import type { AdminProvider } from '../admin-answers.js';
import { type IconName, Tile } from '../../ui/icon.js';
import { useProviderName } from '../provider-names.js';
import { formatPast, joinFacts } from '../../i18n/format.js';
import { Badge } from '../../ui/badge.js';

export function Overview() {
  const { client } = useSession();
  const live = useLive(async () => {
    const [overview, { providers }, policy] = await Promise.all([
      client.overview(),
      client.providers(),
      client.policy(),
    ]);
    return { ...overview, providers, findings: policy.findings };
  }, 'overview');
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.overview} live={live} />
      <LiveNotice live={live} />
      {value !== null && (
        <>
          <Section
            id="findings"
            title={texts.overview.findings}
            action={<a href={listAddress('policy', {})}>{texts.overview.policy}</a>}
          >
            <DismissibleFindings findings={value.findings} />
          </Section>
          <AccountStates counts={value.accounts} />
          <Logins />
          <ProviderHealth providers={value.providers} />
          <Rechecks providers={value.providers} isOn={value.isOffboardingOn} />
          {value.requests !== null && <Requests counts={value.requests} />}
        </>
      )}
    </>
  );
}

function AccountStates({ counts }: { readonly counts: AdminOverview['accounts'] }) {
  const { total, disabled, ineligible } = counts;
  const { overview } = texts;
  const isEstimate = total > MAX_COUNTED;
  const tiles = [
    { label: overview.all, count: total, tone: 'accent', state: '', isRounded: isEstimate },
    { label: overview.disabled, count: disabled, tone: 'alarm', state: 'disabled' },
    { label: overview.ineligible, count: ineligible, tone: 'caution', state: 'ineligible' },
  ];
  return (
    <Section id="accounts" title={overview.accounts} {...(total === 0 && { lead: overview.empty })}>
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
    </Section>
  );
}

/** Counts only: the server cannot read what is asked and answered. */
function Requests({ counts }: { readonly counts: NonNullable<AdminOverview['requests']> }) {
  const { requests } = texts;
  const states = ['waiting', 'answered', 'withdrawn', 'expired'] as const;
  if (states.every((state) => counts[state] === 0)) {
    return <Section id="requests" title={requests.title} lead={requests.none} />;
  }
  return (
    <Section id="requests" title={requests.title} lead={requests.lead}>
      <div class="tiles">
        {states.map((state) => (
          <div key={state} class="count-tile">
            <span class="quiet">{requests[state]}</span>
            <strong>{amount(counts[state], false)}</strong>
          </div>
        ))}
      </div>
    </Section>
  );
}

function amount(count: number, isRounded: boolean): string {
  if (isRounded) {
    return texts.overview.about(formatCount(count));
  }
  return count > MAX_COUNTED ? texts.overview.more(formatCount(MAX_COUNTED)) : formatCount(count);
}

/** Percent of the total; a positive count is always visible. */
function share(count: number, total: number): number {
  return count === 0 ? 0 : Math.max(1.5, Math.min(100, (100 * count) / Math.max(total, 1)));
}

const ICONS: Readonly<Record<AdminProvider['type'], IconName>> = {
  oidc: 'person',
  github: 'branch',
  certificate: 'certificate',
};

/** State of each provider as this replica reaches it. */
function ProviderHealth({ providers }: { readonly providers: readonly AdminProvider[] }) {
  const { health } = texts;
  const nameOf = useProviderName();
  return (
    <Section id="providers" title={health.title}>
      {providers.length === 0 && <p class="empty">{health.none}</p>}
      <ul>
        {providers.map((provider) => (
          <li key={provider.id}>
            <Tile name={ICONS[provider.type]} />
            <div>
              <span class="titled">
                <a href={listAddress('accounts', { provider: provider.id })}>
                  {nameOf(provider.id)}
                </a>
                <State provider={provider} />
                {provider.isRequired && <span class="badge">{health.required}</span>}
              </span>
              <span class="hint">{historyOf(provider)}</span>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function State({ provider: { type, failingFor, lastAnswerAt } }: { provider: AdminProvider }) {
  const { health } = texts;
  if (failingFor !== null) {
    return <Badge tone="alarm" icon="alert" text={health.failing} />;
  }
  if (type === 'certificate') {
    return null;
  }
  return lastAnswerAt === null ? (
    <span class="badge">{health.unknown}</span>
  ) : (
    <Badge tone="good" icon="check" text={health.answers} />
  );
}

/** The newest event of a provider, in one line. */
function historyOf({ type, failingFor, lastAnswerAt, lastFailure }: AdminProvider): string {
  const { health } = texts;
  const answered = lastAnswerAt !== null && health.answered(formatPast(lastAnswerAt));
  if (lastFailure !== null) {
    const { at, cause, detail } = lastFailure;
    const what = detail === null ? cause : `${cause}: ${detail}`;
    const failed = (failingFor === null ? health.failed : health.fails)(formatPast(at), what);
    return joinFacts(failed, answered);
  }
  return answered || (type === 'certificate' ? health.local : health.silent);
}
