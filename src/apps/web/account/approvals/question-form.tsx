import { useState } from 'preact/hooks';
import type { AskedQuestion } from '../../../../core/protocol/agent-request.js';
import type { QuestionAnswer } from '../../../../core/protocol/request-answer.js';
import { markText } from '../../../../packages/client/approvals/marked-text.js';
import { requestMessages } from '../../i18n/request-messages.js';
import { MarkedText } from './marked-text.js';
import { Button } from '../../ui/button.js';
import { submitting, TextField, textOf } from '../../ui/fields.js';
import { NoticeLine, problem, type Notice } from '../../ui/notice.js';

interface QuestionFormProps {
  readonly questions: readonly AskedQuestion[];
  readonly isBusy: boolean;
  readonly send: (answers: readonly QuestionAnswer[]) => void;
}

/** The questions with their options, as fields that are named by their place: ids are of the agent. */
export function QuestionForm({ questions, isBusy, send }: QuestionFormProps) {
  const { form } = requestMessages;
  const [notice, show] = useState<Notice | null>(null);
  const submit = submitting((data) => {
    const answers = questions.map((question, index) => answerIn(data, question, index));
    const whole = answers.filter((one) => one !== null);
    show(whole.length === answers.length ? null : problem(() => requestMessages.form.incomplete));
    if (whole.length === answers.length) {
      send(whole);
    }
  });
  return (
    <form onSubmit={submit}>
      {questions.map((question, index) => (
        <Question key={index} question={question} index={index} />
      ))}
      <NoticeLine notice={notice} />
      <Button type="submit" class="primary wide" disabled={isBusy} text={form.send} />
    </form>
  );
}

interface QuestionProps {
  readonly question: AskedQuestion;
  readonly index: number;
}

function Question({ question: { text, options, multiple, custom }, index }: QuestionProps) {
  const { form, view } = requestMessages;
  return (
    <fieldset>
      <legend dir="auto">
        <Prose text={text} /> <span class="badge">{view.saysTheAgent}</span>
      </legend>
      {multiple && <p class="hint">{form.several}</p>}
      {options.map(({ label, description }, at) => (
        <label key={at} class="check option">
          <input type={multiple ? 'checkbox' : 'radio'} name={`question-${index}`} value={at} />
          <span dir="auto">
            <Prose text={label} />
            {description !== '' && (
              <span class="hint">
                <Prose text={description} />
              </span>
            )}
          </span>
        </label>
      ))}
      {custom && (
        <TextField
          id={`own-${index}`}
          name={`own-${index}`}
          label={options.length === 0 ? form.answer : form.own}
          maxLength={2000}
        />
      )}
    </fieldset>
  );
}

function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {markText(text, 'prose').map((line, index) => (
        <MarkedText key={index} line={line} />
      ))}
    </>
  );
}

/** @returns null unless something fitting was chosen */
function answerIn(
  data: FormData,
  { id, options, multiple, custom }: AskedQuestion,
  index: number,
): QuestionAnswer | null {
  const chosen = data.getAll(`question-${index}`).map((at) => options[Number(at)]?.id ?? '');
  const text = custom ? textOf(data, `own-${index}`) : '';
  // A text replaces the choice where only one answer is taken.
  const picked = text !== '' && !multiple ? [] : chosen;
  if (picked.length === 0 && text === '') {
    return null;
  }
  return text === '' ? { id, options: picked } : { id, options: picked, text };
}
