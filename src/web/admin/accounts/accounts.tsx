import { useEffect, useState } from 'preact/hooks';
import type { AdminAccountQuery, ListedAccount } from '../../../client/api/admin-client.js';
import { Icon } from '../../ui/icon.js';
import { NoticeLine } from '../../ui/notice.js';
import { formatRelative } from '../../words/format.js';
import { Head } from '../head.js';
import { PageButtons, usePages } from '../pages.js';
import { accountAddress, listAddress, textOf, type Filter } from '../route.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { texts } from '../words/texts.js';
import { nameOf, stateOf } from './account-names.js';

const PAGE = 25;
const STATES = ['active', 'disabled', 'ineligible'] as const;

/** Accounts, by what an administrator knows of one. */
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
  const submit = (event: Event) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    location.hash = listAddress('accounts', {
      query: textOf(values, 'query'),
      provider: textOf(values, 'provider'),
      state: textOf(values, 'state'),
    });
  };
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
            placeholder={accounts.queryHint}
            defaultValue={filter.query ?? ''}
          />
          <button type="submit" class="primary">
            <Icon name="search" />
            {accounts.find}
          </button>
        </div>
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
  const { client } = useSession();
  const [providers, setProviders] = useState<readonly string[]>([]);
  useEffect(() => {
    // Without them the list still finds by everything else.
    client.providers().then(
      (answer) => setProviders(answer.providers.map(({ id }) => id)),
      () => undefined,
    );
  }, []);
  const offered = new Set([...providers, ...(chosen === '' ? [] : [chosen])]);
  return (
    <div class="field">
      <label for="provider">{texts.accounts.provider}</label>
      <select id="provider" name="provider" value={chosen} onChange={submitForm}>
        <option value="">{texts.accounts.anyProvider}</option>
        {[...offered].map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </div>
  );
}

function StateChoice({ chosen }: ChoiceProps) {
  const { accounts } = texts;
  return (
    <div class="field">
      <label for="state">{accounts.state}</label>
      <select id="state" name="state" value={chosen} onChange={submitForm}>
        <option value="">{accounts.anyState}</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {accounts[state]}
          </option>
        ))}
      </select>
    </div>
  );
}

function Found({ filter }: { readonly filter: Filter }) {
  const { client } = useSession();
  const pages = usePages(
    async (cursor) => {
      const query: AdminAccountQuery = { ...filter, limit: PAGE, ...(cursor && { cursor }) };
      const page = await client.accounts(query);
      return { rows: page.accounts, cursor: page.cursor };
    },
    listAddress('accounts', filter),
  );
  const { live } = pages;
  const { accounts } = texts;
  return (
    <section aria-label={accounts.found}>
      <NoticeLine notice={live.notice} />
      {live.value === null && <Skeleton live={live} />}
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

function Table({ rows }: { readonly rows: readonly ListedAccount[] }) {
  const { accounts } = texts;
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">{accounts.account}</th>
          <th scope="col">{accounts.state}</th>
          <th scope="col" class="minor">
            {accounts.providers}
          </th>
          <th scope="col" class="minor number">
            {accounts.sessions}
          </th>
          <th scope="col" class="minor">
            {accounts.lastSeen}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((account) => (
          <Row key={account.id} account={account} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ account }: { readonly account: ListedAccount }) {
  const { id, identities, sessions, lastSeenAt } = account;
  const { tone, text } = stateOf(account);
  const seen = lastSeenAt === null ? texts.accounts.never : formatRelative(lastSeenAt);
  return (
    <tr>
      <td>
        <a href={accountAddress(id)}>{nameOf(account)}</a>
        <span class="code hint">{id}</span>
      </td>
      <td>
        <span class={`badge ${tone}`}>{text}</span>
      </td>
      <td class="minor">
        {identities.length === 0
          ? texts.accounts.noProvider
          : identities.map(({ provider }) => provider).join(', ')}
      </td>
      <td class="minor number">{sessions}</td>
      <td class="minor">{seen}</td>
    </tr>
  );
}
