import { useEffect } from 'preact/hooks';
import { Button } from '../../ui/button.js';
import { type IconName, Tile } from '../../ui/icon.js';
import { t } from '../../i18n/messages.js';
import type { SectionProps } from '../use-account.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Receivers } from './receivers.js';
import { Rename } from './rename.js';
import type { AccountSession } from '../../../../packages/client/api/api-client-answers.js';
import { shownName } from '../../browser-name.js';
import { clientFor } from '../../server.js';
import { done, NoticeLine, useNotedAction } from '../../ui/notice.js';
import { repeatWhileVisible } from '../../ui/repeat-while-visible.js';
import { formatDate, formatPast, joinFacts } from '../../i18n/format.js';
import { SignOutEverywhere } from '../security/sign-out.js';
import { CERTIFICATE } from '../tab-state.js';
import { Section } from '../../ui/section.js';

const Programs = lazyPart(() => import('../programs/programs-section.js'), 'ProgramsSection');

export function DevicesSection(props: SectionProps) {
  const { refresh } = props;
  // No update reports a session that begins, such as that of a device which was just added.
  useEffect(() => repeatWhileVisible(refresh), [refresh]);
  if (props.account.refusal !== null) {
    return null;
  }
  const { devices } = t;
  const isKeyed = props.account.profile.keyMode === 'keyed';
  const lead = isKeyed ? devices.addLeadKeyed : devices.addLead;
  const add = <Button onClick={props.addDevice} icon="plus" text={devices.add} />;
  return (
    <>
      <Sessions {...props} />
      <Section id="add" title={devices.addTitle} lead={lead} action={add} />
      {props.account.features.features?.programs?.enabled === true && <Programs {...props} />}
      <Receivers {...props} />
    </>
  );
}

function Sessions({ account, endings, session, endSession, notify, reload }: SectionProps) {
  const { notice, isBusy, run } = useNotedAction(endSession);
  const { devices } = t;
  const { sessions, features } = account;
  const nameOf = (provider: string) =>
    features.capabilities.auth.providers?.[provider]?.displayName ?? provider;
  const ordered = sessions.toSorted((one, other) => Number(other.current) - Number(one.current));
  const act = (work: () => Promise<void>, outcome: 'renamed' | 'ended') =>
    run(async () => {
      await work();
      notify(done(() => t.devices[outcome]));
      reload();
    });
  const client = clientFor(session.token);
  const signOut = sessions.length > 1 && <SignOutEverywhere endings={endings} />;
  return (
    <Section id="sessions" title={devices.sessions} lead={devices.sessionsLead} action={signOut}>
      <ul>
        {ordered.map((one) => (
          <SessionRow
            key={one.id}
            one={one}
            how={methodName(one, nameOf)}
            isBusy={isBusy}
            rename={(name) => act(() => client.renameSession(one.id, name), 'renamed')}
            end={() => act(() => client.endSession(one.id), 'ended')}
          />
        ))}
      </ul>
      <NoticeLine notice={notice} />
    </Section>
  );
}

interface SessionRowProps {
  readonly one: AccountSession;
  readonly how: string;
  readonly isBusy: boolean;
  readonly rename: (name: string) => void;
  readonly end: () => void;
}

function SessionRow({ one, how, isBusy, rename, end }: SessionRowProps) {
  const { devices } = t;
  const name = clientName(one);
  return (
    <li>
      <Tile name={ICONS[one.client.platform ?? ''] ?? 'computer'} isAccented={one.current} />
      <SessionFacts one={one} how={how} />
      <div class="row">
        <Rename
          id={one.id}
          name={one.client.name ?? ''}
          title={devices.nameSession}
          label={`${devices.rename}: ${name}`}
          isBusy={isBusy}
          rename={rename}
        />
        {!one.current && (
          <Button
            disabled={isBusy}
            aria-label={devices.endNamed(name)}
            onClick={end}
            text={devices.end}
          />
        )}
      </div>
    </li>
  );
}

function SessionFacts({ one, how }: Pick<SessionRowProps, 'one' | 'how'>) {
  const { devices } = t;
  const used = one.current ? devices.current : devices.lastUsed(formatPast(one.lastSeenAt));
  return (
    <div>
      <span class="titled">
        <strong>{clientName(one)}</strong>
        {one.current && <span class="badge accent">{devices.thisDevice}</span>}
      </span>
      <span class="quiet">{joinFacts(used, one.address)}</span>
      <span class="hint" title={formatDate(one.createdAt)}>
        {devices.signedIn(formatPast(one.createdAt))} {how}
      </span>
    </div>
  );
}

function clientName({ client: { name, platform } }: AccountSession): string {
  return name === null ? (platform ?? t.devices.unnamed.other) : shownName(name);
}

/** Returns the login method as the end of a sentence. */
function methodName({ method }: AccountSession, nameOf: (provider: string) => string): string {
  const { devices } = t;
  switch (method) {
    case 'key_challenge':
      return devices.byKey;
    case CERTIFICATE:
      return devices.byCertificate;
    case 'device':
      return devices.byDevice;
    default:
      return devices.byProvider(nameOf(method));
  }
}

/** The platforms of browsers, apps, and the command-line client (`process.platform`). */
const ICONS: Readonly<Record<string, IconName>> = {
  web: 'browser',
  ios: 'phone',
  android: 'phone',
  linux: 'terminal',
  darwin: 'terminal',
  win32: 'terminal',
};
