import type { AdminActAnswer } from '../../../../packages/client/api/admin-client.js';
import { nullIfNotFound } from '../../../../packages/client/api/problem.js';
import { formatDay, formatList, formatPast, joinFacts } from '../../i18n/format.js';
import { placeName, publisherOf } from '../../../../packages/client/programs/program-host.js';
import { Tile } from '../../ui/icon.js';
import { ActionButton, type ActionResult } from '../action-button.js';
import type { AdminProgram } from '../admin-answers.js';
import { texts } from '../i18n/texts.js';
import { useProviderName } from '../provider-names.js';
import { useSession } from '../session.js';

interface ProgramsProps extends ActionResult {
  readonly accountId: string;
  readonly programs: readonly AdminProgram[];
}

/** The programs that may act for the person: each program with its approvals. */
export function Programs({ programs: all, ...props }: ProgramsProps) {
  const { programs } = texts;
  const keys = [...new Set(all.map(keyOf))];
  return (
    <section aria-labelledby="programs">
      <div class="card-head">
        <div>
          <h2 id="programs">{programs.title}</h2>
          <p class="hint">{all.length === 0 ? programs.none : programs.lead}</p>
        </div>
        {keys.length > 1 && <EndAll ended={all} {...props} />}
      </div>
      {keys.map((key) => (
        <Program key={key} grants={all.filter((one) => keyOf(one) === key)} {...props} />
      ))}
    </section>
  );
}

/** The files of machines have one id, and a name each. */
function keyOf({ client: { id, name } }: AdminProgram): string {
  return `${id} ${name}`;
}

interface ProgramProps extends Omit<ProgramsProps, 'programs'> {
  readonly grants: readonly AdminProgram[];
}

function Program({ grants, ...props }: ProgramProps) {
  const { client } = grants[0] ?? { client: { id: '', name: '' } };
  return (
    <>
      <div class="card-head">
        <div>
          <h3>{client.name}</h3>
          <p class="hint">{publisherOf(client.id) ?? client.id}</p>
        </div>
        {grants.length > 1 && <EndAll ended={grants} name={client.name} {...props} />}
      </div>
      <ul>
        {grants.map((grant) => (
          <Grant key={grant.id} grant={grant} {...props} />
        ))}
      </ul>
    </>
  );
}

interface GrantProps extends Omit<ProgramsProps, 'programs'> {
  readonly grant: AdminProgram;
}

function Grant({ grant, accountId, ...result }: GrantProps) {
  const { client: api } = useSession();
  const { programs, detail } = texts;
  const { id, client, resource, scopes, method, createdAt, lastUsedAt, lastAddress } = grant;
  const approved = programs.approved(formatPast(createdAt), useProviderName()(method));
  const used = detail.lastUsed(formatPast(lastUsedAt));
  const { redirectUri } = grant;
  const place = redirectUri === null ? programs.file : placeName(redirectUri, programs);
  return (
    <li>
      <Tile name="terminal" />
      <div>
        <span>
          <strong>{formatList(scopes.map(({ text }) => text))}</strong> {programs.at(resource.name)}
        </span>
        <span class="hint">{joinFacts(place, used, lastAddress)}</span>
        <span class="hint">{joinFacts(approved, programs.until(formatDay(grant.expiresAt)))}</span>
      </div>
      <ActionButton
        textsOf={() => texts.programs.endOne}
        label={programs.endNamed(client.name, resource.name)}
        isSmall
        run={(reason) => api.endProgram(accountId, id, reason)}
        {...result}
      />
    </li>
  );
}

interface EndAllProps extends Omit<ProgramsProps, 'programs'> {
  readonly ended: readonly AdminProgram[];
  /** The program; absent = all programs. */
  readonly name?: string;
}

function EndAll({ ended, name, accountId, ...result }: EndAllProps) {
  const { client } = useSession();
  const run = async (reason: string): Promise<AdminActAnswer> => {
    for (const { id } of ended) {
      // It may have ended meanwhile: the others end nevertheless.
      await client.endProgram(accountId, id, reason).catch(nullIfNotFound);
    }
    return { success: true, changed: true };
  };
  return (
    <ActionButton
      textsOf={() => texts.programs.endAll}
      {...(name !== undefined && { label: texts.programs.endAllNamed(name) })}
      isSmall
      run={run}
      {...result}
    />
  );
}
