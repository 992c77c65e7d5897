import { Icon } from '../../ui/icon.js';
import { words } from '../../words/words.js';
import type { SectionProps } from '../use-account.js';
import { Receivers } from './receivers.js';
import { Sessions } from './sessions.js';

/** Where the account is signed in, and what gets its notifications. */
export function DevicesSection(props: SectionProps) {
  if (props.account.refusal !== null) {
    return null;
  }
  const { devices } = words;
  return (
    <>
      <Sessions {...props} />
      <section aria-labelledby="add">
        <div class="card-head">
          <div>
            <h2 id="add">{devices.addTitle}</h2>
            <p class="quiet">{devices.addLead}</p>
          </div>
          <button type="button" onClick={props.addDevice}>
            <Icon name="plus" />
            {devices.add}
          </button>
        </div>
      </section>
      <Receivers {...props} />
    </>
  );
}
