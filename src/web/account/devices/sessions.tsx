import { useState } from 'preact/hooks';
import type { AccountSession } from '../../../client/api/api-client-answers.js';
import { clientFor } from '../../server.js';
import { Icon, type IconName } from '../../ui/icon.js';
import { done, NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { formatDate, formatRelative } from '../../words/format.js';
import { words } from '../../words/words.js';
import { SignOutEverywhere } from '../security/sign-out.js';
import { CERTIFICATE } from '../tab-state.js';
import type { SectionProps } from '../use-account.js';

/** Where this account is signed in. */
export function Sessions({ account, endings, session, endSession, notify, reload }: SectionProps) {
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, endSession);
  const { devices } = words;
  const { sessions, features } = account;
  const nameOf = (provider: string) =>
    features.capabilities.auth.providers?.[provider]?.displayName ?? provider;
  const ordered = sessions.toSorted((one, other) => Number(other.current) - Number(one.current));
  const end = async ({ id }: AccountSession) => {
    await clientFor(session.token).endSession(id);
    notify(done(devices.ended));
    reload();
  };
  return (
    <section aria-labelledby="sessions">
      <div class="card-head">
        <div>
          <h2 id="sessions">{devices.sessions}</h2>
          <p class="quiet">{devices.sessionsLead}</p>
        </div>
        {sessions.length > 1 && <SignOutEverywhere endings={endings} />}
      </div>
      <ul>
        {ordered.map((one) => (
          <SessionRow
            key={one.id}
            one={one}
            how={methodName(one, nameOf)}
            isBusy={isBusy}
            end={() => run(() => end(one))}
          />
        ))}
      </ul>
      <NoticeLine notice={notice} />
    </section>
  );
}

interface SessionRowProps {
  readonly one: AccountSession;
  readonly how: string;
  readonly isBusy: boolean;
  readonly end: () => void;
}

function SessionRow({ one, how, isBusy, end }: SessionRowProps) {
  const { devices } = words;
  const name = clientName(one);
  const signedIn = `${devices.signedIn(formatRelative(one.createdAt))} ${how}`;
  return (
    <li>
      <span class={one.current ? 'tile accent' : 'tile'}>
        <Icon name={iconOf(one)} />
      </span>
      <div>
        <span class="titled">
          <strong>{name}</strong>
          {one.current && <span class="badge accent">{devices.thisDevice}</span>}
        </span>
        <span class="quiet">
          {[
            one.current ? devices.current : devices.lastUsed(formatRelative(one.lastSeenAt)),
            one.address,
          ]
            .filter((part) => part !== null)
            .join(' · ')}
        </span>
        <span class="hint" title={formatDate(one.createdAt)}>
          {signedIn}
        </span>
      </div>
      {!one.current && (
        <button type="button" disabled={isBusy} aria-label={devices.endNamed(name)} onClick={end}>
          {devices.end}
        </button>
      )}
    </li>
  );
}

function clientName({ client: { name, platform } }: AccountSession): string {
  return name ?? platform ?? words.devices.unnamed.other;
}

/** How it signed in: the end of a sentence. */
function methodName({ method }: AccountSession, nameOf: (provider: string) => string): string {
  const { devices } = words;
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

function iconOf({ client: { platform } }: AccountSession): IconName {
  return ICONS[platform ?? ''] ?? 'computer';
}
