import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { onRefusal } from '../../../../packages/client/api/problem.js';
import { whyAskedAgain } from '../../../../packages/client/approvals/allow-from-notification.js';
import {
  answerRequest,
  type ShownableRequest,
} from '../../../../packages/client/approvals/answer-request.js';
import {
  showRequest,
  type FieldLabel,
  type ShownRequest,
  type ShownField,
} from '../../../../packages/client/approvals/show-request.js';
import type { AgentRequest } from '../../../../core/protocol/agent-request.js';
import type { AnswerChoice } from '../../../../core/protocol/request-answer.js';
import { formatRelative } from '../../i18n/format.js';
import { requestMessages } from '../../i18n/request-messages.js';
import { clientFor } from '../../server.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icon.js';
import { done, NoticeLine, problem, useAction, type Notice, type Notify } from '../../ui/notice.js';
import type { AccountActions } from '../use-account.js';
import type { AnswerKeys } from './answer-keys.js';
import type { PressedAllow } from './pressed-allow.js';
import { MarkedText } from './marked-text.js';
import { QuestionForm } from './question-form.js';
import { EndBadge } from './request-list.js';
import type { RequestEnd, RequestItem, Requests } from './use-requests.js';

const TICK_MS = 15_000;

interface RequestViewProps extends Pick<AccountActions, 'session' | 'endSession' | 'notify'> {
  /** null where this account has no such request. */
  readonly item: RequestItem | null;
  readonly keys: AnswerKeys | null;
  readonly isPlain: boolean;
  readonly requests: Omit<Requests, 'items'>;
  readonly pressedAllow: PressedAllow | null;
}

/** One request: the part that acts first, then where it comes from, then the decision. */
export function RequestView({ item, ...props }: RequestViewProps) {
  const { view } = requestMessages;
  return (
    <section aria-labelledby="request" class="request">
      <p>
        <a href="#requests" class="titled">
          <Icon name="back" />
          {view.toList}
        </a>
      </p>
      {item === null ? (
        <>
          <h2 id="request" tabIndex={-1}>
            {view.unknown}
          </h2>
          <p class="quiet">{view.unknownHint}</p>
        </>
      ) : (
        <FoundRequest item={item} {...props} />
      )}
    </section>
  );
}

type FoundProps = Omit<RequestViewProps, 'item'> & { readonly item: RequestItem };

function FoundRequest({ item, ...props }: FoundProps) {
  const { found, end } = item;
  const { view } = requestMessages;
  const isQuestion = found.kind === 'opened' && found.request.kind === 'user_action';
  const title = isQuestion ? view.question : view.permission;
  return (
    <>
      <div class="card-head">
        <h2 id="request" tabIndex={-1}>
          {found.kind === 'opened' ? title : view.unopened[found.kind]}
        </h2>
        {end !== null && <EndBadge end={end} />}
      </div>
      {found.kind === 'other-server' && <p class="code">{found.server}</p>}
      {end === null && <Decision item={item} {...props} />}
      {end !== null && found.kind === 'opened' && (
        <Fields fields={showRequest(found.request).fields} />
      )}
      {end !== null && <Ended end={end} />}
    </>
  );
}

/** The fields that {@link QuestionForm} shows. */
const IN_FORM: readonly FieldLabel[] = ['question', 'option'];

interface ActingFieldsProps {
  readonly request: AgentRequest;
  readonly hasForm: boolean;
}

/** The fields up to the last one that acts. */
function ActingFields({ request, hasForm }: ActingFieldsProps) {
  const [all] = partsOf(request);
  return <Fields fields={hasForm ? all.filter(({ label }) => !IN_FORM.includes(label)) : all} />;
}

interface ClaimedFieldsProps extends Pick<Requests, 'serverNow'> {
  readonly found: ShownableRequest;
}

/** The words of the agent after the fields that act, and the expiry. */
function ClaimedFields({ found: { request, stored }, serverNow }: ClaimedFieldsProps) {
  const [, fields] = partsOf(request);
  useTick();
  return (
    <Fields fields={fields}>
      <dt>{requestMessages.view.expires}</dt>
      <dd>{formatRelative(stored.expiresAt, serverNow())}</dd>
    </Fields>
  );
}

interface FieldsProps {
  readonly fields: readonly ShownField[];
  readonly children?: ComponentChildren;
}

function Fields({ fields, children }: FieldsProps) {
  return (
    <dl class="asked">
      {fields.map((field, index) => (
        <Field key={index} field={field} />
      ))}
      {children}
    </dl>
  );
}

function partsOf(request: AgentRequest): [acting: ShownField[], claimed: ShownField[]] {
  const { fields } = showRequest(request);
  const end = fields.map(({ saysTheAgent }) => saysTheAgent).lastIndexOf(false) + 1;
  return [fields.slice(0, end), fields.slice(end)];
}

function Field({ field: { label, name, saysTheAgent, lines } }: { readonly field: ShownField }) {
  const { labels, view } = requestMessages;
  return (
    <>
      <dt>
        {labels[label]}
        {name !== null && (
          <>
            {' '}
            <bdi class="code" dir={saysTheAgent ? 'auto' : 'ltr'}>
              <MarkedText line={name} />
            </bdi>
          </>
        )}
        {saysTheAgent && <span class="badge">{view.saysTheAgent}</span>}
      </dt>
      {/* Left to right, so that no text reorders what surrounds it. */}
      <dd class={saysTheAgent ? undefined : 'acting'} dir={saysTheAgent ? 'auto' : 'ltr'}>
        {lines.map((line, index) => (
          <MarkedText key={index} line={line} />
        ))}
      </dd>
    </>
  );
}

function Decision({ item, keys, isPlain, ...props }: FoundProps) {
  const [notice, show] = useState<Notice | null>(null);
  const { found } = item;
  const { view } = requestMessages;
  const all = { item, keys, isPlain, ...props };
  const { isBusy, answer } = useAnswer(all, show);
  useAllowFromNotification(all, answer, show);
  const { canAllow, canAnswer, reason } = possibleAnswers(found, keys, isPlain);
  const questions = found.kind === 'opened' ? (found.request.questions ?? []) : [];
  const denial = canAnswer ? view.decline : view.deny;
  return (
    <>
      {canAnswer && (
        <QuestionForm {...{ questions, isBusy }} send={(answers) => answer({ answers })} />
      )}
      {found.kind === 'opened' && <ActingFields request={found.request} hasForm={canAnswer} />}
      {/* The buttons stick to the window inside of this part only: an agent could hide what acts below. */}
      <div class="after-acting">
        {found.kind === 'opened' && (
          <ClaimedFields found={found} serverNow={props.requests.serverNow} />
        )}
        {reason !== null && <p class="quiet">{reason}</p>}
        {canAllow && keys?.isConfirmed === true && <p class="hint">{view.confirms}</p>}
        <NoticeLine notice={notice} />
        <div class="decision">
          <Button class="danger" onClick={() => answer('deny')} text={denial} disabled={isBusy} />
          {canAllow && (
            <Button
              class="primary"
              onClick={() => answer('allow')}
              text={view.allow}
              disabled={isBusy}
            />
          )}
        </div>
      </div>
    </>
  );
}

/** Returns the answers that this page can give; with the reason where only a denial is possible. */
function possibleAnswers(found: RequestItem['found'], keys: AnswerKeys | null, isPlain: boolean) {
  const isOpened = found.kind === 'opened' && keys !== null && found.isSealed;
  const isQuestion = isOpened && found.request.kind === 'user_action';
  const notAllowed = isOpened && !isQuestion ? showRequest(found.request).whyNotAllowed : null;
  const canAllow = isOpened && !isQuestion && notAllowed === null;
  return { canAllow, canAnswer: isQuestion, reason: whyNot(found.kind, isPlain, notAllowed) };
}

type Answer = (choice: AnswerChoice, onSent?: () => void) => void;

/**
 * Allows at once what the notification showed whole, and has the passkey verify the person. Otherwise
 * the page says why it asks again (specification, Events 7).
 */
function useAllowFromNotification(
  { item: { id, found }, keys, pressedAllow, notify }: FoundProps,
  answer: Answer,
  show: Notify,
): void {
  useEffect(() => {
    if (pressedAllow === null || pressedAllow.target.requestId !== id) {
      return;
    }
    const { target, pressed, finish } = pressedAllow;
    finish();
    const { title, body } = pressed;
    // Browsers show no subtitle, and do not say who pressed the button.
    const isAuthenticated = keys?.isConfirmed === true;
    const displayed = { title, subtitle: null, body, isAuthenticated };
    const why =
      found.kind === 'opened' ? whyAskedAgain(found, target, displayed) : ('unopened' as const);
    if (why === null) {
      answer('allow', () => notify(done(() => requestMessages.pressed.allowed)));
    } else {
      show(problem(() => requestMessages.pressed[why]));
    }
  }, [pressedAllow]);
}

function useAnswer({ item, keys, requests, session, endSession }: FoundProps, show: Notify) {
  const { found, id } = item;
  const { isBusy, run } = useAction(show, endSession);
  /** The sealed answers by request and choice. The server takes one that may have arrived only unchanged. */
  const sent = useRef(new Map<string, string>());
  const send = async (choice: AnswerChoice): Promise<void> => {
    const { requests: all } = clientFor(session.token);
    const name = JSON.stringify([id, choice]);
    const routes = {
      deny: () => all.deny(id),
      answer: (_id: string, sealed: string) => {
        const first = sent.current.get(name) ?? sealed;
        sent.current.set(name, first);
        return all.answer(id, first);
      },
    };
    // A denial is accepted without the key, and then needs no passkey.
    if (found.kind === 'opened' && !(choice === 'deny' && keys?.isConfirmed === true)) {
      await answerRequest(routes, keys?.requests ?? null, found, choice);
    } else {
      await routes.deny();
    }
    requests.noteSent(id, typeof choice === 'string' ? choice : 'answer');
  };
  const answer: Answer = (choice, onSent) =>
    run(() =>
      send(choice).then(
        onSent,
        onRefusal(['already-answered', 'request-expired', 'not-found'], ({ code }) => {
          if (code === 'already-answered') {
            requests.noteSent(id, 'earlier');
          }
          requests.reload();
        }),
      ),
    );
  return { isBusy, answer };
}

function whyNot(
  kind: RequestItem['found']['kind'],
  isPlain: boolean,
  notAllowed: ShownRequest['whyNotAllowed'],
): string | null {
  const { whyNot: reasons } = requestMessages;
  if (kind !== 'opened') {
    return kind === 'closed' ? null : reasons[kind];
  }
  if (isPlain) {
    return reasons.plain;
  }
  return notAllowed === null ? null : reasons[notAllowed];
}

function Ended({ end }: { readonly end: RequestEnd }) {
  const { endHints, view } = requestMessages;
  const text =
    end.kind === 'sent' || end.kind === 'taken'
      ? endHints[end.kind][end.choice]
      : endHints[end.kind];
  return (
    <>
      <p role="status">{text}</p>
      <a class="button" href="#requests">
        {view.toList}
      </a>
    </>
  );
}

/** Renders the relative times again. */
function useTick(): void {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
}
