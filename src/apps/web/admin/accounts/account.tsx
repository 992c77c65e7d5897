import { useState } from 'preact/hooks';
import { nullIfNotFound } from '../../../../packages/client/api/problem.js';
import type {
  AdminAccount,
  AdminAuditEvent,
  AccountAct,
} from '../../../../packages/client/api/admin-client.js';
import { shownName } from '../../browser-name.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Icon, type IconName, Tile } from '../../ui/icon.js';
import type { Notice } from '../../ui/notice.js';
import { formatDate, formatPast, formatUpcoming, joinFacts } from '../../i18n/format.js';
import { t } from '../../i18n/messages.js';
import { EventTable } from '../audit/event-table.js';
import { Head } from '../head.js';
import { listAddress } from '../route.js';
import { useSession } from '../session.js';
import { LiveNotice, useLive } from '../use-live.js';
import { texts } from '../i18n/texts.js';
import { nameOf, stateOf } from './account-names.js';
import { type ActionResult, ActionButton } from '../action-button.js';
import type { Statement } from '../../../../core/policy/messages/statement.js';
import { reasonName, Statements } from '../policy/statements.js';
import { useProviderName } from '../provider-names.js';
import { Programs } from './programs.js';
import type { AdminIdentity, AdminSession } from '../admin-answers.js';
import { Section } from '../../ui/section.js';

const EVENTS = 20;

export function Account({ id }: { readonly id: string }) {
  const { client } = useSession();
  const live = useLive(async () => {
    const [account, { events }] = await Promise.all([
      // It is deleted or never existed; its events may still exist.
      client.account(id).catch(nullIfNotFound),
      client.audit({ accountId: id, limit: EVENTS }),
    ]);
    return { account, events };
  }, id);
  const [notice, notify] = useState<Notice | null>(null);
  const result = { notify, reload: live.reload };
  const { value } = live;
  const account = value?.account ?? null;
  const { detail } = texts;
  return (
    <>
      <a class="back" href={listAddress('accounts', {})}>
        <Icon name="back" />
        {texts.nav.accounts}
      </a>
      <Head title={account === null ? detail.title : nameOf(account)} live={live}>
        {account !== null && <State account={account} />}
      </Head>
      <LiveNotice live={live} notice={notice} />
      {value !== null && account === null && (
        <p class="empty">
          <strong>{detail.absent}</strong>
          {detail.absentHint}
        </p>
      )}
      {account !== null && <Parts account={account} {...result} />}
      {value !== null && <History id={id} events={value.events} />}
    </>
  );
}

interface AccountProps extends ActionResult {
  readonly account: AdminAccount;
}

function Parts({ account, ...result }: AccountProps) {
  const { caller } = useSession();
  return (
    <>
      {caller.role === 'operate' && <Actions account={account} {...result} />}
      <Decision explain={account.explain} />
      <Identities account={account} />
      <Sessions account={account} {...result} />
      {account.programs !== undefined && (
        <Programs accountId={account.id} programs={account.programs} {...result} />
      )}
      <Backends backends={account.explain.resourceServers} />
      <Details account={account} />
    </>
  );
}

interface HistoryProps {
  readonly id: string;
  readonly events: readonly AdminAuditEvent[];
}

function History({ id, events }: HistoryProps) {
  const all = <a href={listAddress('audit', { accountId: id })}>{texts.detail.allEvents}</a>;
  return (
    <Section id="history" title={texts.detail.history} action={all}>
      <EventTable events={events} withAccount={false} />
    </Section>
  );
}

function State({ account }: { readonly account: AdminAccount }) {
  const { tone, text } = stateOf(account);
  return <span class={`badge ${tone}`}>{text}</span>;
}

function Details({ account }: { readonly account: AdminAccount }) {
  const { id, createdAt, disabledAt, keyMode, encryptionMode, lastSeenAt } = account;
  const { overview } = t;
  return (
    <Section id="details" title={overview.details}>
      <dl>
        <dt>{overview.id}</dt>
        <dd class="titled">
          <span class="code">{id}</span>
          <CopyButton text={id} label={overview.id} />
        </dd>
        <dt>{overview.created}</dt>
        <dd>{formatDate(createdAt)}</dd>
        {disabledAt !== null && (
          <>
            <dt>{texts.accounts.disabled}</dt>
            <dd>{formatDate(disabledAt)}</dd>
          </>
        )}
        <dt>{texts.accounts.lastSeen}</dt>
        <dd>{formatPast(lastSeenAt)}</dd>
        <dt>{overview.signIn}</dt>
        <dd>{texts.detail[keyMode]}</dd>
        <dt>{overview.content}</dt>
        <dd>{texts.detail[encryptionMode]}</dd>
      </dl>
    </Section>
  );
}

function Actions({ account: { id, state, identities }, ...result }: AccountProps) {
  const { client } = useSession();
  const { acts } = texts;
  const offered: readonly Exclude<AccountAct, 'delete'>[] = [
    state === 'disabled' ? 'enable' : 'disable',
    'revoke',
    ...(identities.length === 0 ? [] : (['recheck'] as const)),
  ];
  return (
    <section class="acts" aria-label={acts.label}>
      {offered.map((act) => (
        <ActionButton
          // The focus stays with the button that replaces the used one.
          key={act === 'enable' ? 'disable' : act}
          textsOf={() => texts.acts[act]}
          isDanger={act === 'disable'}
          run={(reason) => client.act(id, act, reason)}
          {...result}
        />
      ))}
      <ActionButton
        textsOf={() => texts.acts.remove}
        isDanger
        consent={acts.removeConsent}
        run={(reason) => client.act(id, 'delete', reason)}
        {...result}
      />
    </section>
  );
}

/** The server's decision about the account and its reasons. */
function Decision({ explain }: Pick<AdminAccount, 'explain'>) {
  const { decision, code, statements } = explain;
  const isAllowed = decision === 'allowed';
  return (
    <section class={`decision ${isAllowed ? 'good' : 'alarm'}`} aria-labelledby="decision">
      <h2 id="decision" class="titled">
        <Icon name={isAllowed ? 'check' : 'alert'} />
        {code === null ? texts.detail.allowed : texts.detail.refused[code]}
      </h2>
      <Statements statements={statements} />
    </section>
  );
}

const TONES = { eligible: 'good', ineligible: 'alarm', unknown: '' } as const;

function Identities({ account }: { readonly account: AdminAccount }) {
  const { identities, explain } = account;
  const providerName = useProviderName();
  return (
    <Section id="identities" title={texts.detail.identities}>
      {identities.length === 0 && <p class="empty">{texts.detail.noIdentity}</p>}
      <ul>
        {identities.map((identity) => (
          <li key={identity.provider}>
            <div>
              <span class="titled">
                <strong>{providerName(identity.provider)}</strong>
                <span class={`badge ${TONES[identity.status]}`}>{t.security[identity.status]}</span>
              </span>
              <span>{identity.email ?? identity.login ?? identity.subject}</span>
              <span class="hint">{checksOf(identity)}</span>
            </div>
            <Facts
              statements={
                explain.providers.find(({ provider }) => provider === identity.provider)
                  ?.statements ?? []
              }
            />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function checksOf({ reason, checkedAt, nextCheckAt, failures }: AdminIdentity): string {
  return joinFacts(
    reason !== null && reasonName(reason),
    checkedAt !== null && t.security.checked(formatPast(checkedAt)),
    nextCheckAt !== null && t.security.nextCheck(formatUpcoming(nextCheckAt)),
    failures > 0 && texts.detail.failures(failures),
  );
}

function Facts({ statements }: { readonly statements: readonly Statement[] }) {
  return (
    <details class="whole">
      <summary>{texts.detail.facts}</summary>
      <Statements statements={statements} />
    </details>
  );
}

function Backends({ backends }: { readonly backends: AdminAccount['explain']['resourceServers'] }) {
  return backends.length === 0 ? null : (
    <Section id="account-backends" title={texts.detail.backends}>
      <Statements statements={backends.map(({ statement }) => statement)} />
    </Section>
  );
}

function Sessions({ account: { id, sessions }, ...result }: AccountProps) {
  const { client } = useSession();
  const { detail, acts } = texts;
  const providerName = useProviderName();
  const named = sessions.map((session) => {
    const { name } = session.client;
    return { ...session, name: name === null ? detail.unnamedClient : shownName(name) };
  });
  return (
    <Section id="sessions" title={detail.sessions}>
      {sessions.length === 0 && <p class="empty">{detail.noSession}</p>}
      <ul>
        {named.map(({ name, ...session }) => (
          <li key={session.id}>
            <Tile name={iconOf(session)} />
            <div>
              <strong>{name}</strong>
              <span class="hint">{factsOf(session, providerName(session.method))}</span>
            </div>
            <ActionButton
              textsOf={() => texts.acts.endSession}
              label={acts.endNamed(name)}
              isSmall
              run={(reason) => client.endSession(id, session.id, reason)}
              {...result}
            />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function factsOf({ address, createdAt, lastSeenAt }: AdminSession, method: string): string {
  const signedIn = texts.detail.signedIn(formatPast(createdAt));
  return joinFacts(method, address, signedIn, texts.detail.lastUsed(formatPast(lastSeenAt)));
}

function iconOf({ client: { platform } }: AdminSession): IconName {
  if (platform === 'ios' || platform === 'android') {
    return 'phone';
  }
  return platform === 'web' ? 'browser' : 'terminal';
}
