import { useEffect, useState } from 'preact/hooks';
import { nullIfNotFound } from '../../../../packages/client/api/problem.js';
import { formatDay, formatList, formatPast, joinFacts } from '../../i18n/format.js';
import { programMessages } from '../../i18n/programs/program-messages.js';
import { Button } from '../../ui/button.js';
import { Tile } from '../../ui/icon.js';
import { done, Loading, NoticeLine, useNotedAction } from '../../ui/notice.js';
import { Section } from '../../ui/section.js';
import { useReload } from '../../ui/use-reload.js';
import type { SectionProps } from '../use-account.js';
import { placeOf, publisherOf } from '../../../../packages/client/programs/program-host.js';
import type { ListedProgram } from '../../../../packages/client/programs/program-routes.js';
import { clientFor } from '../../server.js';

export { loadProgramMessages as loadTexts } from '../../i18n/programs/program-messages.js';

type ProgramsSectionProps = Pick<SectionProps, 'account' | 'session' | 'endSession'>;

/** The programs that may act for the account. */
export function ProgramsSection({ account, session, endSession }: ProgramsSectionProps) {
  const [programs, show] = useState<readonly ListedProgram[] | null>(null);
  const { notice, show: notify, isBusy, run } = useNotedAction(endSession);
  const { section } = programMessages;
  const { programs: routes } = clientFor(session.token);
  const load = async () => show(await routes.list());
  const reload = useReload(load, { notify, endSession });
  // The account is read again after each update, and while the page is visible.
  useEffect(reload, [account]);
  const end = (ended: readonly ListedProgram[]) =>
    run(async () => {
      for (const { id } of ended) {
        // Another session may end one of several meanwhile: the others end nevertheless.
        await routes.end(id).catch(nullIfNotFound);
      }
      show(await routes.list());
      notify(done(() => programMessages.section.ended));
    });
  const endAll = programs !== null && programs.length > 1 && (
    <Button disabled={isBusy} onClick={() => end(programs)} text={section.endAll} />
  );
  return (
    <Section id="programs" title={section.title} lead={section.lead} action={endAll}>
      {programs === null && <Loading retry={reload} notify={notify} />}
      {programs?.length === 0 && <p class="quiet">{section.none}</p>}
      {programs !== null && programs.length > 0 && <ProgramList {...{ programs, isBusy, end }} />}
      <NoticeLine notice={notice} />
    </Section>
  );
}

interface ProgramListProps extends Pick<ProgramRowProps, 'isBusy' | 'end'> {
  readonly programs: readonly ListedProgram[];
}

function ProgramList({ programs, ...props }: ProgramListProps) {
  return (
    <ul>
      {byProgram(programs).map((grants) =>
        grants.map((one, index) => (
          <ProgramRow key={one.id} one={one} ofProgram={index === 0 ? grants : [one]} {...props} />
        )),
      )}
    </ul>
  );
}

/** The grants of each program; the order is else that of the server. */
function byProgram(programs: readonly ListedProgram[]): readonly (readonly ListedProgram[])[] {
  // The files of machines have one id, and a name each.
  const keyOf = ({ client }: ListedProgram) => `${client.id} ${client.name}`;
  const keys = [...new Set(programs.map(keyOf))];
  return keys.map((key) => programs.filter((one) => keyOf(one) === key));
}

interface ProgramRowProps {
  readonly one: ListedProgram;
  readonly isBusy: boolean;
  /** All grants of the program in its first row, and in the others this one. */
  readonly ofProgram: readonly ListedProgram[];
  readonly end: (ended: readonly ListedProgram[]) => void;
}

function ProgramRow({ one, isBusy, ofProgram, end }: ProgramRowProps) {
  const { section, request } = programMessages;
  const { client, resource, scopes, redirectUri } = one;
  const place = redirectUri === null ? null : placeOf(redirectUri);
  const host = publisherOf(client.id) ?? (place?.kind === 'host' ? place.host : null);
  const used = joinFacts(section.used(formatPast(one.lastUsedAt)), one.lastAddress, host);
  return (
    <li>
      <Tile name="terminal" />
      <div>
        <span class="titled">
          <strong>{client.name}</strong> {section.at(resource.name)}
        </span>
        <span class="quiet">{formatList(scopes.map(({ text }) => text))}</span>
        <span class="quiet">{used}</span>
        <span class="hint">
          {place === null && `${section.file} · `}
          {place?.kind === 'computer' && `${request.computer} · `}
          {section.approved(formatPast(one.createdAt))} · {section.until(formatDay(one.expiresAt))}
        </span>
      </div>
      <div class="row">
        <EndButtons {...{ one, isBusy, ofProgram, end }} />
      </div>
    </li>
  );
}

function EndButtons({ one, isBusy, ofProgram, end }: ProgramRowProps) {
  const { section } = programMessages;
  const { name } = one.client;
  const all = section.endCount(ofProgram.length);
  return (
    <>
      <Button
        disabled={isBusy}
        aria-label={section.endNamed(name)}
        onClick={() => end([one])}
        text={section.end}
      />
      {ofProgram.length > 1 && (
        <Button
          disabled={isBusy}
          aria-label={`${all}: ${name}`}
          onClick={() => end(ofProgram)}
          text={all}
        />
      )}
    </>
  );
}
