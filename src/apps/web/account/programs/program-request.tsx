import { useEffect, useState } from 'preact/hooks';
import { GatehouseProblem } from '../../../../packages/client/api/problem.js';
import { formatDate } from '../../i18n/format.js';
import { t } from '../../i18n/messages.js';
import { programMessages } from '../../i18n/programs/program-messages.js';
import { clientFor } from '../../server.js';
import { Button } from '../../ui/button.js';
import { Check } from '../../ui/fields.js';
import { Loading, NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { useReload } from '../../ui/use-reload.js';
import {
  noteReplaced,
  savePendingProgram,
  takeReplaced,
  type PendingProgram,
  type Session,
} from '../tab-state.js';
import type { AccountActions } from '../use-account.js';
import { placeName, publisherOf } from '../../../../packages/client/programs/program-host.js';
import { ProgramRequestRoutes, type ProgramRequest, type ProgramScope } from './program-routes.js';

export { loadProgramMessages as loadTexts } from '../../i18n/programs/program-messages.js';

interface ProgramRequestProps extends Pick<AccountActions, 'endSession'> {
  readonly program: PendingProgram;
  /** null = signed out, which suffices to read why a request is refused. */
  readonly session: Session | null;
  /** Forgets the request by null. */
  readonly setProgram: (program: null) => void;
  /** Shows the sign-in by true, and keeps the request for the account that signs in. */
  readonly setChanging: (isChanging: boolean) => void;
}

/** @param back returns to the request; undefined for a signed-out person */
export function ForProgram({ back }: { readonly back: (() => void) | undefined }) {
  const { request } = programMessages;
  return back === undefined ? (
    <p>{request.forProgram}</p>
  ) : (
    <p>
      {request.forOther} <Button class="link" onClick={back} text={request.back} />
    </p>
  );
}

/** For a person who changes the account at a provider that remembers the first one. */
export function ProviderNote() {
  return <p class="quiet">{programMessages.request.samePicked}</p>;
}

/** The request of a program, or the reason why there is none. */
export function ProgramRequestView({ program, session, ...props }: ProgramRequestProps) {
  const close = () => props.setProgram(null);
  if (program.id === null || session === null) {
    return <Refused code={program.error ?? ''} close={close} />;
  }
  const shown = { id: program.id, session, endSession: props.endSession };
  const changeAccount = () => props.setChanging(true);
  return <FoundRequest key={shown.id} {...shown} {...{ close, changeAccount }} />;
}

function Refused({ code, close }: { readonly code: string; readonly close: () => void }) {
  const { errors, request } = programMessages;
  const known: Readonly<Record<string, string>> = errors;
  return (
    <section aria-labelledby="program">
      <h1 id="program">{request.refused}</h1>
      <p>
        {Object.hasOwn(known, code) ? known[code] : errors.other} {request.restart}
        {code !== 'request-expired' && ` ${request.report}`}
      </p>
      <Button onClick={close} text={request.toAccount} />
    </section>
  );
}

interface ShownRequest extends Pick<AccountActions, 'endSession'> {
  readonly id: string;
  readonly session: Session;
}

interface FoundProps extends ShownRequest {
  readonly close: () => void;
  readonly changeAccount: () => void;
}

/** Codes after which the request is gone, or never was for this person. */
const FINAL = ['request-expired', 'invalid-target'];

function useProgramRequest({ id, session, endSession }: ShownRequest) {
  const [request, show] = useState<ProgramRequest | null>(null);
  const [name, setName] = useState<string | null>(null);
  const [refusal, refuse] = useState('');
  const [notice, notify] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(notify, endSession);
  const routes = new ProgramRequestRoutes(session.token);
  const noteFailure = (error: unknown): void => {
    const code = error instanceof GatehouseProblem ? error.code : '';
    refuse(code);
    if (!FINAL.includes(code)) {
      throw error;
    }
  };
  const load = async () => {
    const profile = await clientFor(session.token).profile();
    const named = profile.identities.find(({ login }) => login !== null)?.login;
    setName(named ?? t.overview.unnamed(profile.id.slice(0, 8)));
    await routes.show(id).then(show, noteFailure);
  };
  const reload = useReload(load, { notify, endSession });
  useEffect(reload, []);
  const answer = (send: () => Promise<string>) =>
    run(async () => {
      const address = await send().catch(noteFailure);
      if (address !== undefined) {
        setLeaving(true);
        // The page stays as it is until the browser has left it.
        savePendingProgram(null);
        location.assign(address);
      }
    });
  const [isLeaving, setLeaving] = useState(false);
  return {
    ...{ request, name, refusal, notice, isBusy, isLeaving, reload, notify },
    allow: (shown: ProgramRequest, scopes: readonly string[]) =>
      answer(() => routes.approve(id, shown, scopes)),
    cancel: () => answer(() => routes.deny(id)),
  };
}

/** Ends the session of another account that this one replaced: this tab may never show the account. */
function endReplaced({ accountId }: Session): void {
  const replaced = takeReplaced();
  if (replaced !== null && replaced.accountId !== accountId) {
    // It has ended already, or it expires.
    clientFor(replaced.token)
      .logOut()
      .catch(() => undefined);
  } else if (replaced !== null) {
    noteReplaced(replaced);
  }
}

function FoundRequest({ close, changeAccount, ...props }: FoundProps) {
  useEffect(() => endReplaced(props.session), [props.session.token]);
  const { request, name, refusal, notice, isBusy, isLeaving, ...acts } = useProgramRequest(props);
  const { reload, notify, allow, cancel } = acts;
  if (FINAL.includes(refusal)) {
    return <Refused code={refusal} close={close} />;
  }
  if (request === null || isLeaving) {
    return (
      <>
        <NoticeLine notice={notice} />
        {isLeaving ? (
          <p>{programMessages.request.leaving}</p>
        ) : (
          <Loading retry={reload} notify={notify} />
        )}
      </>
    );
  }
  return (
    <section aria-labelledby="program" class="request">
      <Program {...{ request, changeAccount }} name={name ?? ''} />
      <Decision
        {...{ request, isBusy }}
        allow={(scopes) => allow(request, scopes)}
        cancel={cancel}
      />
      <NoticeLine notice={notice} />
    </section>
  );
}

interface ProgramProps extends Pick<FoundProps, 'changeAccount'> {
  readonly request: ProgramRequest;
  /** The name of the signed-in person. */
  readonly name: string;
}

/** The name of the program is text of a stranger: its place is what counts. */
function Program({ request, name, changeAccount }: ProgramProps) {
  const { request: texts } = programMessages;
  const publisher = publisherOf(request.client.id);
  return (
    <>
      <h1 id="program" tabIndex={-1}>
        {texts.title(request.client.name)}
      </h1>
      <p class="quiet">
        {texts.signedIn(name)} <Button class="link" onClick={changeAccount} text={texts.other} />
      </p>
      <p>{texts.lead(request.resource.name)}</p>
      <dl class="asked">
        <dt>{texts.returns}</dt>
        <dd class="acting" dir="ltr">
          {placeName(request.redirectUri, texts)}
        </dd>
        <dt>{publisher === null ? texts.configured : texts.publisher}</dt>
        <dd dir="ltr">{publisher ?? texts.operator}</dd>
      </dl>
      <p class="quiet">{texts.unproven}</p>
    </>
  );
}

interface DecisionProps {
  readonly request: ProgramRequest;
  readonly isBusy: boolean;
  readonly allow: (scopes: readonly string[]) => void;
  readonly cancel: () => void;
}

function Decision({ request, isBusy, allow, cancel }: DecisionProps) {
  const { request: texts } = programMessages;
  const [chosen, choose] = useState(request.scopes.map(({ id }) => id));
  const toggle = (id: string) =>
    choose(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <>
      <fieldset>
        <legend>{texts.may}</legend>
        {request.scopes.map((scope) => (
          <Check
            key={scope.id}
            label={scope.text}
            checked={chosen.includes(scope.id)}
            disabled={!isChangeable(scope, request.scopes, chosen)}
            set={() => toggle(scope.id)}
          />
        ))}
      </fieldset>
      <p class="quiet">{texts.until(formatDate(request.grantExpiresAt))}</p>
      <div class="decision">
        <Button disabled={isBusy} onClick={cancel} text={texts.cancel} />
        <Button
          class="primary"
          disabled={isBusy}
          onClick={() => allow(chosen)}
          text={texts.allow}
        />
      </div>
    </>
  );
}

/** A chosen scope stays while another one requires it, or if it is the last one. */
function isChangeable(
  { id, requires }: ProgramScope,
  all: readonly ProgramScope[],
  chosen: readonly string[],
): boolean {
  if (!chosen.includes(id)) {
    return requires.every((one) => chosen.includes(one));
  }
  const isRequired = all.some((one) => chosen.includes(one.id) && one.requires.includes(id));
  return !isRequired && chosen.length > 1;
}
