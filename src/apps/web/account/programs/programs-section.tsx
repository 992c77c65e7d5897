import { useEffect, useState } from 'preact/hooks';
import { formatDay, formatList, formatRelative } from '../../i18n/format.js';
import { programMessages } from '../../i18n/programs/program-messages.js';
import { Icon } from '../../ui/icon.js';
import { done, Loading, NoticeLine, useNotedAction } from '../../ui/notice.js';
import { SectionHead } from '../../ui/section-head.js';
import type { SectionProps } from '../use-account.js';
import { placeOf, publisherOf } from '../../../../packages/client/programs/program-host.js';
import type { ListedProgram } from '../../../../packages/client/programs/program-routes.js';
import { clientFor } from '../../server.js';

export type ProgramsSectionProps = Pick<SectionProps, 'account' | 'session' | 'endSession'>;

/** The programs that may act for the account. */
export function ProgramsSection({ account, session, endSession }: ProgramsSectionProps) {
  const [programs, show] = useState<readonly ListedProgram[] | null>(null);
  const { notice, show: notify, isBusy, run } = useNotedAction(endSession);
  const { section } = programMessages;
  const { programs: routes } = clientFor(session.token);
  const load = () => run(async () => show(await routes.list()));
  useEffect(load, []);
  // The account is read again after each update, and while the page is visible.
  useEffect(() => void routes.list().then(show, () => undefined), [account]);
  const end = (ended: readonly ListedProgram[]) =>
    run(async () => {
      for (const { id } of ended) {
        await routes.end(id);
      }
      show(await routes.list());
      notify(done(() => programMessages.section.ended));
    });
  return (
    <section aria-labelledby="programs">
      <SectionHead id="programs" title={section.title} lead={section.lead}>
        {programs !== null && programs.length > 1 && (
          <button type="button" disabled={isBusy} onClick={() => end(programs)}>
            {section.endAll}
          </button>
        )}
      </SectionHead>
      {programs === null && <Loading retry={load} />}
      {programs?.length === 0 && <p class="quiet">{section.none}</p>}
      {programs !== null && programs.length > 0 && (
        <ul>
          {byProgram(programs).map((one) => (
            <ProgramRow key={one.id} one={one} isBusy={isBusy} end={() => end([one])} />
          ))}
        </ul>
      )}
      <NoticeLine notice={notice} />
    </section>
  );
}

/** Grants of one program follow each other; the order is else that of the server. */
function byProgram(programs: readonly ListedProgram[]): readonly ListedProgram[] {
  const ids = [...new Set(programs.map(({ client }) => client.id))];
  return programs.toSorted(
    (one, other) => ids.indexOf(one.client.id) - ids.indexOf(other.client.id),
  );
}

interface ProgramRowProps {
  readonly one: ListedProgram;
  readonly isBusy: boolean;
  readonly end: () => void;
}

function ProgramRow({ one, isBusy, end }: ProgramRowProps) {
  const { section, request } = programMessages;
  const { client, resource, scopes, redirectUri } = one;
  const place = redirectUri === null ? null : placeOf(redirectUri);
  const host = publisherOf(client.id) ?? (place?.kind === 'host' ? place.host : null);
  const used = [section.used(formatRelative(one.lastUsedAt)), one.lastAddress, host];
  return (
    <li>
      <span class="tile">
        <Icon name="terminal" />
      </span>
      <div>
        <span class="titled">
          <strong>{client.name}</strong> {section.at(resource.name)}
        </span>
        <span class="quiet">{formatList(scopes.map(({ text }) => text))}</span>
        <span class="quiet">{used.filter((part) => part !== null).join(' · ')}</span>
        <span class="hint">
          {place === null && `${section.file} · `}
          {place?.kind === 'computer' && `${request.computer} · `}
          {section.approved(formatRelative(one.createdAt))} ·{' '}
          {section.until(formatDay(one.expiresAt))}
        </span>
      </div>
      <div class="row">
        <button
          type="button"
          disabled={isBusy}
          aria-label={section.endNamed(client.name)}
          onClick={end}
        >
          {section.end}
        </button>
      </div>
    </li>
  );
}
