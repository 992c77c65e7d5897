import type { SavedPushToken } from '../client/api-client-answers.js';
import { clientFor } from './server.js';
import type { Session } from './tab-memory.js';
import { useAction } from './use-action.js';
import { dateInWords, done, type Notice } from './words.js';

interface DevicesProps {
  readonly devices: readonly SavedPushToken[];
  readonly session: Session;
  readonly leave: (notice: Notice) => void;
  readonly tell: (notice: Notice | null) => void;
  readonly reload: () => void;
}

const SHOWN_CHARACTERS = 8;

/** The devices that get notifications. */
export function Devices({ devices, session, leave, tell, reload }: DevicesProps) {
  const { isBusy, run } = useAction(tell, leave);
  const remove = async ({ token }: SavedPushToken) => {
    await clientFor(session.token).removePushToken(token);
    tell(done('That device gets no more notifications.'));
    reload();
  };
  return (
    <section aria-labelledby="devices">
      <h2 id="devices">Devices that get notifications</h2>
      {devices.length === 0 && (
        <p class="quiet">None. An app adds itself when it may notify you.</p>
      )}
      <ul>
        {devices.map((device) => (
          <li key={device.id}>
            <div>
              <strong class="code">{shortened(device.token)}</strong>
              <span class="quiet">Since {dateInWords(device.createdAt)}</span>
            </div>
            <button type="button" disabled={isBusy} onClick={() => run(() => remove(device))}>
              Remove
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Enough to tell two devices apart, and too little to notify one. */
function shortened(token: string): string {
  const [, inner = token] = /\[(.*)\]$/.exec(token) ?? [];
  return inner.length > SHOWN_CHARACTERS ? `…${inner.slice(-SHOWN_CHARACTERS)}` : inner;
}
