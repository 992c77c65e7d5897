import type { ComponentType } from 'preact';
import type { Dispatch, StateUpdater } from 'preact/hooks';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { failureMessage, requiresSignIn } from '../i18n/failure.js';
import type { refusedMessages } from '../i18n/refused-messages.js';
import { t } from '../i18n/messages.js';
import { Icon } from './icon.js';
import { useRenderingAt } from './use-events.js';

/** The result of an action, above the page or next to its control. */
export interface Notice {
  readonly kind: 'done' | 'problem';
  /** Called at each rendering, so that the notice follows a change of language. */
  readonly text: () => string;
  /** Set where the server refused the person: then the notice says what to do, and who can help. */
  readonly refusal?: PersonRefusal | undefined;
  /** The Unix milliseconds at which the text changes; undefined = never. */
  readonly until?: number | undefined;
}

const OF_PEOPLE = [
  'not-eligible',
  'account-disabled',
  'signup-disabled',
  'invitation-invalid',
  'signup-provider-disabled',
  'keyless-disabled',
  'e2ee-required',
  'key-challenge-disabled',
] as const satisfies readonly (keyof typeof refusedMessages.steps)[];

export interface PersonRefusal {
  readonly code: (typeof OF_PEOPLE)[number];
  /** null = not known. */
  readonly accountId: string | null;
}

/** Shows a notice instead of the last one; null clears it. */
export type Notify = (notice: Notice | null) => void;

/** {@link Notify} that can also replace only the notice that is shown. */
export type NoticeUpdate = Dispatch<StateUpdater<Notice | null>>;

export const done = (text: Notice['text']): Notice => ({ kind: 'done', text });
export const problem = (text: Notice['text']): Notice => ({ kind: 'problem', text });

/** Names the time after which the server wants to be asked again, until that time has come. */
export function failure(error: unknown): Notice {
  if (!(error instanceof GatehouseProblem)) {
    return problem(() => failureMessage(error));
  }
  const refusal = personRefusal(error.code, error.accountId);
  const seconds = error.retryAfterSeconds;
  const until = seconds === undefined ? undefined : Date.now() + seconds * 1000;
  const hasWait = () => until !== undefined && Date.now() < until;
  return { ...problem(() => failureMessage(error, undefined, hasWait())), refusal, until };
}

/** Returns undefined for the codes that do not concern the person. */
export function personRefusal(code: string, accountId: string | null = null): Notice['refusal'] {
  const known = OF_PEOPLE.find((one) => one === code);
  return known && { code: known, accountId };
}

interface NoticeLineProps {
  readonly notice: Notice | null;
  /** For the `aria-describedby` of its field. */
  readonly id?: string;
}

export function NoticeLine({ notice, id }: NoticeLineProps) {
  useRenderingAt(notice?.until);
  return (
    <div id={id} class="notice" role={notice?.kind === 'problem' ? 'alert' : 'status'}>
      {notice !== null && (
        <p class={notice.kind}>
          <Icon name={notice.kind === 'done' ? 'check' : 'alert'} />
          <span>{notice.text()}</span>
        </p>
      )}
      {notice?.refusal !== undefined && <LazySteps {...notice.refusal} />}
    </div>
  );
}

/** Loaded on demand, because few people are refused. */
function LazySteps(refusal: PersonRefusal) {
  const [Steps, show] = useState<ComponentType<PersonRefusal> | null>(null);
  useEffect(() => {
    const open = async () => {
      const { RefusalSteps } = await import('./refusal-help.js');
      await (await import('../i18n/refused-messages.js')).loadRefusedMessages();
      show(() => RefusalSteps);
    };
    // The notice itself is shown without them.
    open().catch(() => undefined);
  }, []);
  return Steps === null ? null : <Steps {...refusal} />;
}

/** Shown until the server has answered, and after a failure. */
export function Loading({ retry, notify }: { retry: () => unknown; notify?: Notify }) {
  const onClick = () => {
    notify?.(null);
    retry();
  };
  return (
    <>
      <p class="waiting">{t.moment}</p>
      <Button class="link late" onClick={onClick} text={t.tryAgain} />
    </>
  );
}

/** The action of a button, one at a time: `isBusy` while it runs, a notice if it fails. */
export interface Action {
  readonly isBusy: boolean;
  readonly run: (work: () => Promise<void>) => void;
}

/** @param endSession receives a failure that only a new sign-in can fix; default: `notify` */
export function useAction(notify: Notify, endSession: (notice: Notice) => void = notify): Action {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = useCallback(
    (work: () => Promise<void>) => {
      if (isRunning.current) {
        return;
      }
      isRunning.current = true;
      setBusy(true);
      notify(null);
      work()
        .catch((error: unknown) => (requiresSignIn(error) ? endSession : notify)(failure(error)))
        .finally(() => {
          isRunning.current = false;
          setBusy(false);
        });
    },
    [notify, endSession],
  );
  return { isBusy, run };
}

/** {@link useAction} with a notice of its own. */
export function useNotedAction(endSession?: (notice: Notice) => void) {
  const [notice, show] = useState<Notice | null>(null);
  return { notice, show, ...useAction(show, endSession) };
}
