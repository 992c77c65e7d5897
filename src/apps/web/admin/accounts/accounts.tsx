import type {
  AdminAccountQuery,
  ListedAccount,
} from '../../../../packages/client/api/admin-client.js';
import { Button } from '../../ui/button.js';
import { SelectField, submitting, textOf } from '../../ui/fields.js';
import { formatPast } from '../../i18n/format.js';
import { Freshness, Head } from '../head.js';
import { PageButtons, usePages } from '../pages.js';
import { accountAddress, listAddress, type Filter } from '../route.js';
import { useProviderIds, useProviderName } from '../provider-names.js';
import { formatCount, MAX_COUNTED } from '../format-count.js';
import { useSession } from '../session.js';
import { LiveNotice } from '../use-live.js';
import { ListTable } from '../tables.js';
import { texts } from '../i18n/texts.js';
import { nameOf, stateOf } from './account-names.js';

const PAGE = 25;
const STATES = ['active', 'disabled', 'ineligible'] as const;

export function Accounts({ filter }: { readonly filter: Filter }) {
  const key = listAddress('accounts', filter);
  return (
    <>
      <Head title={texts.nav.accounts} />
      <Search key={`form ${key}`} filter={filter} />
      <Found key={key} filter={filter} />
    </>
  );
}

function Search({ filter }: { readonly filter: Filter }) {
  const { accounts } = texts;
  const submit = submitting((values) => {
    location.hash = listAddress('accounts', {
      query: textOf(values, 'query'),
      provider: textOf(values, 'provider'),
      state: textOf(values, 'state'),
    });
  });
  return (
    <form class="filters" role="search" onSubmit={submit}>
      <div class="field wide">
        <label for="query">{accounts.query}</label>
        <div class="row">
          <input
            id="query"
            name="query"
            type="search"
            autocapitalize="none"
            spellcheck={false}
            maxLength={200}
            aria-describedby="query-hint"
            defaultValue={filter.query ?? ''}
          />
          <Button type="submit" class="primary" icon="search" text={accounts.find} />
        </div>
        <p id="query-hint" class="hint">
          {accounts.queryHint}
        </p>
      </div>
      <ProviderChoice chosen={filter.provider ?? ''} />
      <StateChoice chosen={filter.state ?? ''} />
    </form>
  );
}

interface ChoiceProps {
  /** '' = any. */
  readonly chosen: string;
}

function submitForm({ currentTarget }: { readonly currentTarget: HTMLSelectElement }): void {
  currentTarget.form?.requestSubmit();
}

function ProviderChoice({ chosen }: ChoiceProps) {
  const nameOf = useProviderName();
  const offered = new Set([...useProviderIds(), ...(chosen === '' ? [] : [chosen])]);
  const { provider, anyProvider } = texts.accounts;
  return (
    <SelectField
      id="provider"
      name="provider"
      label={provider}
      choices={[['', anyProvider], ...[...offered].map((id) => [id, nameOf(id)] as const)]}
      value={chosen}
      onChange={submitForm}
    />
  );
}

function StateChoice({ chosen }: ChoiceProps) {
  const { accounts } = texts;
  return (
    <SelectField
      id="state"
      name="state"
      label={accounts.state}
      choices={[
        ['', accounts.anyState],
        ...STATES.map((state) => [state, accounts[state]] as const),
      ]}
      value={chosen}
      onChange={submitForm}
    />
  );
}

function Found({ filter }: { readonly filter: Filter }) {
  const { client } = useSession();
  const pages = usePages(
    async (cursor) => {
      const query: AdminAccountQuery = { ...filter, limit: PAGE, ...(cursor && { cursor }) };
      const page = await client.accounts(query);
      return { rows: page.accounts, cursor: page.cursor, total: page.total };
    },
    listAddress('accounts', filter),
  );
  const { live } = pages;
  const { accounts } = texts;
  return (
    <section aria-label={accounts.found}>
      <div class="card-head">
        <h2 class="total">
          {live.value === null ? accounts.found : totalOf(live.value.total ?? 0)}
        </h2>
        <Freshness live={live} />
      </div>
      <LiveNotice live={live} />
      {live.value?.rows.length === 0 && (
        <p class="empty">
          <strong>{accounts.none}</strong>
          {accounts.noneHint}
        </p>
      )}
      {live.value !== null && live.value.rows.length > 0 && <Table rows={live.value.rows} />}
      <PageButtons pages={pages} />
    </section>
  );
}

function totalOf(total: number): string {
  return total > MAX_COUNTED
    ? texts.accounts.more(formatCount(MAX_COUNTED))
    : texts.accounts.count(formatCount(total), total);
}

function Table({ rows }: { readonly rows: readonly ListedAccount[] }) {
  const { account, state, providers, sessions, lastSeen } = texts.accounts;
  return (
    <ListTable headings={[account, state, providers, sessions, lastSeen]} number={sessions}>
      {rows.map((row) => (
        <Row key={row.id} account={row} />
      ))}
    </ListTable>
  );
}

function Row({ account }: { readonly account: ListedAccount }) {
  const { id, identities, sessions, lastSeenAt } = account;
  const { accounts } = texts;
  const { tone, text } = stateOf(account);
  const providerName = useProviderName();
  const providers = identities.map(({ provider }) => providerName(provider)).join(', ');
  return (
    <tr role="row">
      <td role="cell">
        <a href={accountAddress(id)}>{nameOf(account)}</a>
        <span class="code hint">{id}</span>
      </td>
      <td role="cell" class="whole-words">
        <span class={`badge ${tone}`}>{text}</span>
      </td>
      <td role="cell" data-label={accounts.providers}>
        {identities.length === 0 ? accounts.noProvider : providers}
      </td>
      <td role="cell" class="number" data-label={accounts.sessions}>
        {sessions}
      </td>
      <td role="cell" data-label={accounts.lastSeen} class="whole-words">
        {formatPast(lastSeenAt)}
      </td>
    </tr>
  );
}
