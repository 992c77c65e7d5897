import type { BrokenChannel } from '../../../notify/preferences.js';
import { removeChannel } from '../../../notify/settings-changes.js';
import { Icon } from '../../ui/icon.js';
import { useAction } from '../../ui/notice.js';
import { notificationWords } from '../../words/notification-words.js';
import { words } from '../../words/words.js';
import type { ChannelRowProps } from './channel-row.js';

interface BrokenRowProps extends Omit<ChannelRowProps, 'channel'> {
  readonly channel: BrokenChannel;
}

/** A stored webhook that no sender can use: it can be removed where it has an id. */
export function BrokenRow({ channel, save, show, endSession }: BrokenRowProps) {
  const { isBusy, run } = useAction(show, endSession);
  const { webhooks } = notificationWords;
  const { id, detail } = channel;
  return (
    <li>
      <span class="tile">
        <Icon name="alert" />
      </span>
      <div>
        <strong>{webhooks.broken}</strong>
        <span class="quiet">{detail}</span>
      </div>
      {id !== null && (
        <button
          type="button"
          class="danger"
          aria-label={`${words.remove}: ${id}`}
          disabled={isBusy}
          onClick={() => run(() => save((fields) => removeChannel(fields, id), webhooks.removed))}
        >
          {words.remove}
        </button>
      )}
    </li>
  );
}
