import type { TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import { browserName } from '../../browser-name.js';
import { Icon } from '../../ui/icon.js';
import { done, NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { notificationWords } from '../../words/notification-words.js';
import { ShowTest } from '../devices/test-receiver.js';
import type { SectionProps } from '../use-account.js';
import { Listing } from './listing.js';
import type { PartProps } from './push-preferences.js';
import { register } from './push-registration.js';
import { whyNoPush } from './push-subscription.js';

type BrowserProps = PartProps & Pick<SectionProps, 'account' | 'own'>;

/** This browser as a receiver: registers it, and shows a test in it. */
export function BrowserNotifications({ account, own, ...props }: BrowserProps) {
  const { browser } = notificationWords;
  const isOn = account.devices.some(({ token }) => token === own);
  const reason = whyNoPush();
  return (
    <section aria-labelledby="this-browser">
      <div class="lead">
        <h2 id="this-browser">{browser.title}</h2>
        <p class="quiet">{browser.lead}</p>
      </div>
      {isOn && <Registered />}
      {!isOn && reason === null && <RegistrationForm {...props} />}
      {!isOn && reason !== null && <p class="quiet">{browser[reason]}</p>}
    </section>
  );
}

function Registered() {
  const { browser } = notificationWords;
  return (
    <>
      <span class="badge good">
        <Icon name="check" />
        {browser.isOn}
      </span>
      <ShowTest />
      <p class="hint">{browser.wholeWay}</p>
      <Listing text="gatehouse notify doctor" label={browser.wholeWay} />
    </>
  );
}

function RegistrationForm({ settings, session, notify, endSession, reload }: PartProps) {
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, endSession);
  const { browser } = notificationWords;
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = new FormData(event.currentTarget).get('name');
    run(async () => {
      await register(session, typeof name === 'string' ? name.trim() : '', settings.content);
      notify(done(browser.on));
      reload();
    });
  };
  return (
    <form onSubmit={submit}>
      <div class="field">
        <label for="browser-name">{browser.name}</label>
        <input
          id="browser-name"
          name="name"
          defaultValue={browserName()}
          maxLength={64}
          pattern=".*\S.*"
          required
        />
      </div>
      <NoticeLine notice={notice} />
      <button type="submit" class="primary" disabled={isBusy}>
        <Icon name="bell" />
        {browser.turnOn}
      </button>
    </form>
  );
}
