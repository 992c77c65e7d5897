import { useState } from 'preact/hooks';
import type { AdminPlan, AdminPolicy } from '../../../client/api/admin-client.js';
import { NoticeLine, problem, useAction, type Notice } from '../../ui/notice.js';
import { Findings } from '../findings.js';
import { formatCount } from '../format-count.js';
import { accountAddress } from '../route.js';
import { useSession } from '../session.js';
import { texts } from '../words/texts.js';
import { readEnvironment } from './environment-text.js';

interface PlanProps {
  readonly present: AdminPolicy;
}

/** Asks the server what would change, without changing anything. */
export function Plan({ present }: PlanProps) {
  const { client, end } = useSession();
  const [text, setText] = useState('');
  const [plan, setPlan] = useState<AdminPlan | null>(null);
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, end);
  const { policy } = texts;
  const submit = (event: Event) => {
    event.preventDefault();
    const environment = readEnvironment(text);
    setPlan(null);
    if (environment === null) {
      show(problem(policy.form));
      return;
    }
    run(async () => setPlan(await client.plan(environment)));
  };
  return (
    <section aria-labelledby="plan">
      <div class="lead">
        <h2 id="plan">{policy.plan}</h2>
        <p class="quiet">{policy.planLead}</p>
      </div>
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
      <Changes present={present.sentences} changed={plan.policy.sentences} />
      <h3>{policy.findingsThen}</h3>
      <Findings findings={plan.policy.findings} />
    </div>
  );
}

interface ChangesProps {
  readonly present: readonly string[];
  readonly changed: readonly string[];
}

function Changes({ present, changed }: ChangesProps) {
  const { policy } = texts;
  const added = changed.filter((sentence) => !present.includes(sentence));
  const removed = present.filter((sentence) => !changed.includes(sentence));
  return (
    <>
      <h3>{policy.sentences}</h3>
      {added.length + removed.length === 0 && <p class="quiet">{policy.same}</p>}
      <ul class="plain-list changes" lang="en">
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
