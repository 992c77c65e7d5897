import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  AdminPlan,
  AdminPolicy,
  AdminPolicyVariables,
} from '../../../../packages/client/api/admin-client.js';
import { Button } from '../../ui/button.js';
import { SelectField, submitting } from '../../ui/fields.js';
import { NoticeLine, problem, useNotedAction } from '../../ui/notice.js';
import { Section } from '../../ui/section.js';
import { texts } from '../i18n/texts.js';
import { useSession } from '../session.js';
import { Outcome } from './outcome.js';
import { readEnvironment, writeAssignment } from './read-environment.js';

/** Judges the accounts by changed variables. */
export function Plan({ present }: { readonly present: AdminPolicy }) {
  const { client, end } = useSession();
  const [text, setText] = useState('');
  const [plan, setPlan] = useState<AdminPlan | null>(null);
  const { notice, show, isBusy, run } = useNotedAction(end);
  const { policy } = texts;
  const submit = submitting(() => {
    const environment = readEnvironment(text);
    setPlan(null);
    if (environment === null) {
      show(problem(() => texts.policy.form));
      return;
    }
    run(async () => setPlan(await client.plan(environment)));
  });
  return (
    <Section id="plan" title={policy.plan} lead={policy.planLead}>
      <form onSubmit={submit}>
        <Variables text={text} setText={setText} isInvalid={notice !== null} />
        <NoticeLine notice={notice} />
        <Button
          type="submit"
          class="primary"
          disabled={text.trim() === '' || isBusy}
          text={policy.submit}
        />
      </form>
      <div role="status">{plan !== null && <Outcome plan={plan} present={present} />}</div>
    </Section>
  );
}

interface VariablesProps {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly isInvalid: boolean;
}

function Variables({ text, setText, isInvalid }: VariablesProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const add = (assignment: string) => {
    setText(`${text.trimEnd()}\n${assignment}\n`.trimStart());
    area.current?.focus();
  };
  return (
    <>
      <Choice add={add} />
      <div class="field">
        <label for="variables">{texts.policy.variables}</label>
        <textarea
          ref={area}
          id="variables"
          class="code"
          rows={Math.min(Math.max(text.split('\n').length + 1, 5), 24)}
          autocapitalize="none"
          spellcheck={false}
          placeholder="AUTH_REQUIRED_LOGIN_PROVIDERS=okta"
          value={text}
          aria-invalid={isInvalid}
          aria-describedby="variables-hint"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <p id="variables-hint" class="hint">
          {texts.policy.variablesHint}
        </p>
      </div>
    </>
  );
}

/** Adds a variable with its present value, to be edited. */
function Choice({ add }: { readonly add: (assignment: string) => void }) {
  const { client, end } = useSession();
  const [present, setPresent] = useState<AdminPolicyVariables['variables']>([]);
  const { notice, run } = useNotedAction(end);
  const { policy } = texts;
  useEffect(() => run(async () => setPresent((await client.policyVariables()).variables)), []);
  const choose = (name: string) => {
    const chosen = present.find((one) => one.name === name);
    if (chosen !== undefined) {
      add(writeAssignment(name, chosen.value));
    }
  };
  return (
    <>
      <SelectField
        id="variable"
        label={policy.choose}
        hint={policy.chooseHint}
        choices={[['', policy.choice], ...present.map(({ name }) => [name, name] as const)]}
        value=""
        onChange={({ currentTarget }) => {
          choose(currentTarget.value);
          currentTarget.value = '';
        }}
      />
      <NoticeLine notice={notice} />
    </>
  );
}
