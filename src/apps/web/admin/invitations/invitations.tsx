import { useState } from 'preact/hooks';
import type {
  AdminInvitation,
  AdminInvitationPage,
  CreatedInvitation,
} from '../../../../packages/client/api/admin-client.js';
import { Button } from '../../ui/button.js';
import { NoticeLine, type Notice, type Notify, useNotedAction } from '../../ui/notice.js';
import { formatDate, formatPast, joinFacts } from '../../i18n/format.js';
import { ActionButton, type ActionResult } from '../action-button.js';
import { Head } from '../head.js';
import { PageButtons, usePages } from '../pages.js';
import { useSession } from '../session.js';
import { Lesson } from '../lesson.js';
import { LiveNotice } from '../use-live.js';
import { texts } from '../i18n/texts.js';
import { stateOf } from './invitation-state.js';
import { CopyButton } from '../../ui/copy-button.js';
import { INVITATION_LIMITS } from '../../../../core/policy/flow/code-limits.js';
import { DialogButton } from '../../ui/dialog.js';
import { SelectField, submitting, TextField, textOf } from '../../ui/fields.js';
import { Section } from '../../ui/section.js';
import { FormButtons } from '../../ui/form-buttons.js';

const PAGE = 25;

export function Invitations() {
  const { client, caller } = useSession();
  const [areAccepted, setAccepted] = useState(true);
  const pages = usePages(async (cursor) => {
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    const page: AdminInvitationPage = await client.invitations(query);
    setAccepted(page.areAccepted);
    return { rows: page.invitations, cursor: page.cursor };
  }, 'invitations');
  const [notice, notify] = useState<Notice | null>(null);
  const [created, show] = useState<CreatedInvitation | null>(null);
  const { live } = pages;
  const isEmpty = live.value?.rows.length === 0;
  const receive = (next: CreatedInvitation) => {
    show(next);
    live.reload();
  };
  return (
    <>
      <Head title={texts.nav.invitations} live={live}>
        {caller.role === 'operate' && areAccepted && (
          <CreateButton notify={notify} receive={receive} />
        )}
      </Head>
      <LiveNotice live={live} notice={notice} />
      {created !== null && <Created {...created} close={() => show(null)} />}
      {(isEmpty || !areAccepted) && <None areAccepted={areAccepted} />}
      {live.value !== null && !isEmpty && (
        <section aria-label={texts.nav.invitations}>
          <p class="quiet">{texts.invitations.lead}</p>
          <List rows={live.value.rows} notify={notify} reload={live.reload} />
          <PageButtons pages={pages} />
        </section>
      )}
    </>
  );
}

function None({ areAccepted }: Pick<AdminInvitationPage, 'areAccepted'>) {
  const { caller } = useSession();
  const { off, offStep, none, purpose, firstStep } = texts.invitations;
  const create = caller.role === 'operate' && {
    firstStep,
    code: 'gatehouse invite create --note "the Garcia family"',
  };
  const accept = {
    firstStep: offStep,
    code: 'AUTH_ANONYMOUS_SIGNUP_ENABLED=false\nAUTH_SIGNUP_INVITATIONS_ENABLED=true',
  };
  return (
    <Lesson
      none={areAccepted ? none : off}
      purpose={purpose}
      {...(areAccepted ? create : accept)}
      page="docs/administration.md#invitations"
    />
  );
}

function List({ rows, ...result }: ActionResult & { readonly rows: readonly AdminInvitation[] }) {
  return (
    <ul>
      {rows.map((row) => (
        <Row key={row.id} invitation={row} {...result} />
      ))}
    </ul>
  );
}

function Row({ invitation, ...result }: ActionResult & { readonly invitation: AdminInvitation }) {
  const { id, note, uses, used, createdBy, createdAt, expiresAt } = invitation;
  const { invitations } = texts;
  const state = stateOf(invitation, Date.now());
  const isRevocable = state === 'open' || state === 'used-up';
  const name = note ?? invitations.unnamed;
  const facts = joinFacts(
    invitations.used(used, uses),
    invitations.until(formatDate(expiresAt)),
    invitations.createdBy(createdBy, formatPast(createdAt)),
  );
  return (
    <li>
      <div>
        <span class="titled">
          <strong>{name}</strong>
          <span class={state === 'open' ? 'badge good' : 'badge'}>{invitations.states[state]}</span>
        </span>
        <span class="quiet">{facts}</span>
        <span class="code hint">{id}</span>
      </div>
      {isRevocable && <Revoke id={id} name={name} {...result} />}
    </li>
  );
}

interface RevokeProps extends ActionResult {
  readonly id: string;
  readonly name: string;
}

function Revoke({ id, name, ...result }: RevokeProps) {
  const { client } = useSession();
  return (
    <ActionButton
      textsOf={() => texts.invitations.revoke}
      label={texts.invitations.revokeNamed(name)}
      isDanger
      isSmall
      run={(reason) => client.revokeInvitation(id, reason)}
      {...result}
    />
  );
}

/** The code of a new invitation, which the server does not store. */
function Created({ code, link, close }: CreatedInvitation & { readonly close: () => void }) {
  const { invitations } = texts;
  return (
    <Section id="created" title={invitations.created} lead={invitations.createdLead} role="status">
      <dl>
        <dt>{invitations.code}</dt>
        <dd>
          <Copied text={code} label={invitations.code} />
        </dd>
        {link !== null && (
          <>
            <dt>{invitations.link}</dt>
            <dd>
              <Copied text={link} label={invitations.link} />
            </dd>
          </>
        )}
      </dl>
      <p class="hint">{link === null ? invitations.noLink : invitations.linkHint}</p>
      <Button onClick={close} text={invitations.close} />
    </Section>
  );
}

function Copied({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="row">
      <span class="code">{text}</span>
      <CopyButton text={text} label={label} />
    </div>
  );
}

const DAY_SECONDS = 86_400;
const LIFETIMES_DAYS = [1, 7, 30, 90, 365];
const DEFAULT_DAYS = 7;

interface CreateProps {
  /** Cleared when the form opens. */
  readonly notify: Notify;
  readonly receive: (created: CreatedInvitation) => void;
}

function CreateButton({ notify, receive }: CreateProps) {
  return (
    <DialogButton
      open={texts.invitations.create}
      icon="plus"
      title={texts.invitations.createTitle}
      class="primary"
      onOpen={() => notify(null)}
    >
      {(close) => <Form {...{ receive, close }} />}
    </DialogButton>
  );
}

function Form({ receive, close }: Pick<CreateProps, 'receive'> & { readonly close: () => void }) {
  const { client, end } = useSession();
  const { notice, isBusy, run } = useNotedAction(end);
  const submit = submitting((values) => {
    const note = textOf(values, 'note');
    run(async () => {
      const created = await client.createInvitation({
        uses: Number(textOf(values, 'uses')),
        expiresInSeconds: Number(textOf(values, 'days')) * DAY_SECONDS,
        ...(note !== '' && { note }),
      });
      close();
      receive(created);
    });
  });
  return (
    <form onSubmit={submit}>
      <Fields />
      <NoticeLine notice={notice} />
      <FormButtons close={close} submit={texts.invitations.submit} isDisabled={isBusy} />
    </form>
  );
}

function Fields() {
  const { invitations } = texts;
  const { uses, noteLength } = INVITATION_LIMITS;
  return (
    <>
      <TextField
        id="uses"
        name="uses"
        label={invitations.uses}
        type="number"
        min={1}
        max={uses}
        defaultValue="1"
        required
      />
      <SelectField
        id="days"
        name="days"
        label={invitations.lifetime}
        choices={LIFETIMES_DAYS.map((days) => [days, invitations.days(days)] as const)}
        initial={DEFAULT_DAYS}
      />
      <TextField
        id="note"
        name="note"
        label={invitations.note}
        hint={invitations.noteHint}
        maxLength={noteLength}
      />
    </>
  );
}
