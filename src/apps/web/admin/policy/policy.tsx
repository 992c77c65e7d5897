import { useState } from 'preact/hooks';
import { NoticeLine, problem, useNotedAction } from '../../ui/notice.js';
import { Findings } from './findings.js';
import { Head } from '../head.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { CountTable } from '../tables.js';
import { useLive } from '../use-live.js';
import { texts } from '../i18n/texts.js';
import type { AdminPlan, AdminPolicy } from '../../../../packages/client/api/admin-client.js';
import { formatCount } from '../format-count.js';
import { accountAddress } from '../route.js';
import type { Statement } from '../../../../core/policy/messages/statement.js';
import { Statements, useMessages } from './statements.js';
import { SectionHead } from '../../ui/section-head.js';

export function Policy() {
  const { client } = useSession();
  const live = useLive(() => client.policy(), 'policy');
  const { policy } = texts;
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.policy} live={live} />
      <NoticeLine notice={live.notice} />
      {value === null ? (
        <Skeleton live={live} />
      ) : (
        <>
          <section aria-labelledby="present">
            <h2 id="present">{policy.present}</h2>
            <Statements statements={value.statements} />
          </section>
          <section aria-labelledby="findings">
            <h2 id="findings">{texts.overview.findings}</h2>
            <Findings findings={value.findings} />
          </section>
          <Plan present={value} />
        </>
      )}
    </>
  );
}

/** Returns null where a line is no assignment, comment or blank. */
export function readEnvironment(text: string): Readonly<Record<string, string>> | null {
  const variables: Record<string, string> = {};
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) {
      continue;
    }
    const [, name, value = ''] = /^(?:export\s+)?(\w+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) {
      return null;
    }
    variables[name] = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  }
  return variables;
}

interface PlanProps {
  readonly present: AdminPolicy;
}

function Plan({ present }: PlanProps) {
  const { client, end } = useSession();
  const [text, setText] = useState('');
  const [plan, setPlan] = useState<AdminPlan | null>(null);
  const { notice, show, isBusy, run } = useNotedAction(end);
  const { policy } = texts;
  const submit = (event: Event) => {
    event.preventDefault();
    const environment = readEnvironment(text);
    setPlan(null);
    if (environment === null) {
      show(problem(() => texts.policy.form));
      return;
    }
    run(async () => setPlan(await client.plan(environment)));
  };
  return (
    <section aria-labelledby="plan">
      <SectionHead id="plan" title={policy.plan} lead={policy.planLead} />
      <form onSubmit={submit}>
        <Variables text={text} setText={setText} isInvalid={notice !== null} />
        <NoticeLine notice={notice} />
        <button type="submit" class="primary" disabled={text.trim() === '' || isBusy}>
          {policy.submit}
        </button>
      </form>
      <div role="status">{plan !== null && <Outcome plan={plan} present={present} />}</div>
    </section>
  );
}

function Outcome({ plan, present }: PlanProps & { readonly plan: AdminPlan }) {
  const { policy } = texts;
  const { accounts, total, isSample, lose, gain, unknown } = plan;
  const counts = [
    { label: policy.lose, count: lose, tone: lose === 0 ? '' : 'alarm', ids: plan.losing },
    { label: policy.gain, count: gain, tone: gain === 0 ? '' : 'good', ids: plan.gaining },
    { label: policy.unknown, count: unknown, tone: '', ids: [] },
  ];
  return (
    <div class="outcome">
      <h3>{policy.outcome}</h3>
      <p class="quiet">
        {isSample
          ? policy.sample(formatCount(accounts), formatCount(total))
          : policy.judged(formatCount(accounts))}
      </p>
      <div class="tiles">
        {counts.map(({ label, count, tone, ids }) => (
          <div key={label} class={`count-tile ${tone}`}>
            <span class="quiet">{label}</span>
            <strong>{formatCount(count)}</strong>
            {ids.length > 0 && <Examples ids={ids} />}
          </div>
        ))}
      </div>
      <PlannedBackends plan={plan} />
      <Changes present={present.statements} changed={plan.policy.statements} />
      <h3>{policy.findingsThen}</h3>
      <Findings findings={plan.policy.findings} />
    </div>
  );
}

function PlannedBackends({ plan: { resourceServers } }: { readonly plan: AdminPlan }) {
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
  readonly present: readonly Statement[];
  readonly changed: readonly Statement[];
}

function Changes({ present, changed }: ChangesProps) {
  const { policy } = texts;
  const messageOf = useMessages();
  const [before, after] = [present.map(messageOf), changed.map(messageOf)];
  const added = after.filter((sentence) => !before.includes(sentence));
  const removed = before.filter((sentence) => !after.includes(sentence));
  return (
    <>
      <h3>{policy.sentences}</h3>
      {added.length + removed.length === 0 && <p class="quiet">{policy.same}</p>}
      <ul class="plain-list changes">
        {removed.map((sentence) => (
          <li key={sentence}>
            <del>{sentence}</del>
          </li>
        ))}
        {added.map((sentence) => (
          <li key={sentence}>
            <ins>{sentence}</ins>
          </li>
        ))}
      </ul>
    </>
  );
}

interface VariablesProps {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly isInvalid: boolean;
}

function Variables({ text, setText, isInvalid }: VariablesProps) {
  const { policy } = texts;
  return (
    <div class="field">
      <label for="variables">{policy.variables}</label>
      <textarea
        id="variables"
        class="code"
        rows={5}
        autocapitalize="none"
        spellcheck={false}
        placeholder="AUTH_REQUIRED_LOGIN_PROVIDERS=okta"
        value={text}
        aria-invalid={isInvalid}
        aria-describedby="variables-hint"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <p id="variables-hint" class="hint">
        {policy.variablesHint}
      </p>
    </div>
  );
}

function Examples({ ids }: { readonly ids: readonly string[] }) {
  return (
    <details>
      <summary>{texts.policy.examples(ids.length)}</summary>
      <ul class="plain-list">
        {ids.map((id) => (
          <li key={id}>
            <a class="code" href={accountAddress(id)}>
              {id}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
