import type { TargetedEvent } from 'preact';
import { choose, language, LANGUAGES, t, type Language } from '../i18n/messages.js';

export function LanguageChoice() {
  const change = ({ currentTarget }: TargetedEvent<HTMLSelectElement>) => {
    // Without a network, the page stays in its current language.
    choose(currentTarget.value as Language).catch(() => {
      currentTarget.value = language();
    });
  };
  return (
    <label class="language">
      <span class="unseen">{t.language}</span>
      <select onChange={change} value={language()}>
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
