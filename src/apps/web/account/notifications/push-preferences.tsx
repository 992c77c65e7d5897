import { changePreferences } from '../../../../packages/notify/settings-changes.js';
import type { Preferences } from '../../../../packages/notify/preferences.js';
import { SelectField } from '../../ui/fields.js';
import { NoticeLine, useNotedAction } from '../../ui/notice.js';
import { notificationMessages } from '../../i18n/notification-messages.js';
import type { AccountActions } from '../use-account.js';
import { TOPICS } from './topics.js';
import { previewOfPush, PREVIEWS_OF_BUILD } from './preview.js';
import { Switch } from './switch.js';
import type { Settings } from './use-settings.js';
import { Section } from '../../ui/section.js';

export interface PartProps extends AccountActions {
  readonly preferences: Preferences;
  readonly settings: Settings;
}

const BEHAVIORS = ['full', 'silent', 'off'] as const;

interface Fields extends Pick<PartProps, 'preferences'> {
  readonly isBusy: boolean;
  readonly set: (name: string) => (value: boolean | string) => void;
}

export function PushPreferences({ preferences, settings, notify, endSession }: PartProps) {
  const { notice, isBusy, run } = useNotedAction(endSession);
  const { push } = notificationMessages;
  const set: Fields['set'] = (name) => (value) => {
    // A notice of an earlier action could contradict the change.
    notify(null);
    run(() => settings.change((fields) => changePreferences(fields, { [name]: value })));
  };
  const fields = { preferences, isBusy, set };
  return (
    <Section id="push" title={push.title} lead={push.lead}>
      <Switch
        label={push.enabled}
        isOn={preferences.push.enabled}
        isBusy={isBusy}
        set={set('pushEnabled')}
      />
      <TopicSwitches {...fields} />
      <ContentSwitches {...fields} />
      <Foreground {...fields} />
      <NoticeLine notice={notice} />
      <Samples preferences={preferences} />
    </Section>
  );
}

function TopicSwitches({ preferences, isBusy, set }: Fields) {
  const { push, topics, topicHints } = notificationMessages;
  return (
    <fieldset>
      <legend>{push.when}</legend>
      {TOPICS.map(({ name, event }) => (
        <Switch
          key={name}
          label={topics[name]}
          hint={topicHints[name]}
          isOn={preferences.push.topics[event]}
          isBusy={isBusy}
          set={set(name)}
        />
      ))}
    </fieldset>
  );
}

function ContentSwitches({ preferences, isBusy, set }: Fields) {
  const { push } = notificationMessages;
  const { requestPreviews, readyIncludeMessageText } = preferences.push;
  return (
    <fieldset>
      <legend>{push.shows}</legend>
      <Switch
        label={push.previews}
        hint={`${push.previewsHint} ${PREVIEWS_OF_BUILD ? push.previewsOn : push.previewsOff}`}
        isOn={requestPreviews}
        isBusy={isBusy}
        set={set('requestPreviews')}
      />
      <Switch
        label={push.message}
        hint={push.messageHint}
        isOn={readyIncludeMessageText}
        isBusy={isBusy}
        set={set('readyIncludeMessageText')}
      />
    </fieldset>
  );
}

function Foreground({ preferences, set }: Fields) {
  const { push } = notificationMessages;
  return (
    <SelectField
      id="foreground"
      label={push.foreground}
      choices={BEHAVIORS.map((behavior) => [behavior, push.foregroundChoices[behavior]] as const)}
      value={preferences.foregroundBehavior}
      onChange={({ currentTarget }) => set('foregroundBehavior')(currentTarget.value)}
    />
  );
}

function Samples({ preferences: { push: switches } }: Pick<PartProps, 'preferences'>) {
  const shown = TOPICS.filter(({ event }) => switches.topics[event]);
  return (
    <details>
      <summary>{notificationMessages.push.preview}</summary>
      <ul class="samples">
        {shown.map(({ name, event }) => {
          const { title, body } = previewOfPush(event, switches);
          return (
            <li key={name}>
              <div>
                <strong>{title}</strong>
                <span class="text">{body}</span>
              </div>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
