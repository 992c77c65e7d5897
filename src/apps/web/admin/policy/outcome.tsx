import type { AdminPlan, AdminPolicy } from '../../../../packages/client/api/admin-client.js';
import type { Statement } from '../../../../core/policy/messages/statement.js';
import { formatCount } from '../format-count.js';
import { texts } from '../i18n/texts.js';
import { useProviderName } from '../provider-names.js';
import { accountAddress } from '../route.js';
import { CountTable } from '../tables.js';
import { Findings } from './findings.js';
import { useMessages } from './statements.js';
import { changesOf, type Change } from '../../../../core/policy/messages/policy-changes.js';

interface OutcomeProps {
  readonly plan: AdminPlan;
  readonly present: AdminPolicy;
}

/** Shows what a plan found: accounts, backends, sentences and findings. */
export function Outcome({ plan, present }: OutcomeProps) {
  const { policy } = texts;
  const { accounts, total, isSample, lose, gain, unknown } = plan;
  const known = new Set(present.findings.map(({ message }) => message));
  const added = plan.policy.findings.filter(({ message }) => !known.has(message));
  return (
    <div class="outcome">
      <h3>{policy.outcome}</h3>
      <p class="quiet">
        {isSample
          ? policy.sample(formatCount(accounts), formatCount(total))
          : policy.judged(formatCount(accounts), accounts)}
      </p>
      <Counts plan={plan} />
      <PlannedBackends plan={plan} />
      <h3>{policy.sentences}</h3>
      <Changes
        changes={changesOf(present.statements, plan.policy.statements)}
        hasEffect={lose + gain + unknown > 0}
      />
      <h3>{policy.findingsThen}</h3>
      {added.length === 0 ? (
        <p class="quiet">{policy.noNewFindings}</p>
      ) : (
        <Findings findings={added} />
      )}
    </div>
  );
}

function Counts({ plan }: Pick<OutcomeProps, 'plan'>) {
  const { policy } = texts;
  const { lose, gain, unknown } = plan;
  const counts = [
    { label: policy.lose, count: lose, tone: lose === 0 ? '' : 'alarm', ids: plan.losing },
    { label: policy.gain, count: gain, tone: gain === 0 ? '' : 'good', ids: plan.gaining },
    { label: policy.unknown, count: unknown, tone: '', ids: [] },
  ];
  return (
    <div class="tiles">
      {counts.map(({ label, count, tone, ids }) => (
        <div key={label} class={`count-tile ${tone}`}>
          <span class="quiet">{label}</span>
          <strong>{formatCount(count)}</strong>
          {ids.length > 0 && <Examples ids={ids} names={plan.names} />}
        </div>
      ))}
    </div>
  );
}

function PlannedBackends({ plan: { resourceServers } }: Pick<OutcomeProps, 'plan'>) {
  const { policy } = texts;
  return resourceServers.length === 0 ? null : (
    <>
      <h3>{policy.backends}</h3>
      <CountTable
        headings={[policy.backend, policy.lose, policy.gain, policy.unknown]}
        rows={resourceServers.map(({ id, lose, gain, unknown }) => ({
          name: id,
          counts: [lose, gain, unknown],
        }))}
      />
    </>
  );
}

interface ChangesProps {
  readonly changes: readonly Change[];
  /** True if an account would lose or get access, or might. */
  readonly hasEffect: boolean;
}

function Changes({ changes, hasEffect }: ChangesProps) {
  if (changes.length === 0) {
    return <p class="quiet">{hasEffect ? texts.policy.sameSentences : texts.policy.same}</p>;
  }
  return (
    <ul class="plain-list changes">
      {changes.map((change) => (
        <li key={change.key}>
          {change.kind === 'rule' ? <RuleChange {...change} /> : <SentenceChange {...change} />}
        </li>
      ))}
    </ul>
  );
}

function RuleChange({ provider, rule, before, after }: Extract<Change, { kind: 'rule' }>) {
  const nameOf = useProviderName();
  const listed = (values: readonly string[]) =>
    values.length === 0 ? texts.policy.none : values.join(', ');
  return (
    <>
      {nameOf(provider)}, {texts.policy.rules[rule]}: <del>{listed(before)}</del> →{' '}
      <ins>{listed(after)}</ins>
    </>
  );
}

function SentenceChange({ before, after }: Extract<Change, { kind: 'sentence' }>) {
  return (
    <>
      {before !== null && <Sentence tag="del" statement={before} label={texts.policy.before} />}
      {after !== null && <Sentence tag="ins" statement={after} label={texts.policy.after} />}
    </>
  );
}

interface SentenceProps {
  readonly tag: 'del' | 'ins';
  readonly statement: Statement;
  readonly label: string;
}

function Sentence({ tag: Tag, statement, label }: SentenceProps) {
  const messageOf = useMessages();
  return (
    <p>
      <span class="quiet">{label}</span> <Tag>{messageOf(statement)}</Tag>
    </p>
  );
}

interface ExamplesProps {
  readonly ids: readonly string[];
  readonly names: AdminPlan['names'];
}

function Examples({ ids, names }: ExamplesProps) {
  return (
    <details>
      <summary>{texts.policy.examples(ids.length)}</summary>
      <ul class="plain-list">
        {ids.map((id) => (
          <li key={id}>
            <a href={accountAddress(id)}>{names[id] ?? texts.accounts.unnamed(id.slice(0, 8))}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}
