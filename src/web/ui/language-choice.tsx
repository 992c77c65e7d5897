import type { TargetedEvent } from 'preact';
import { choose, language, LANGUAGES, words, type Language } from '../words/words.js';

/** Changes the language of the page. */
export function LanguageChoice() {
  const change = ({ currentTarget }: TargetedEvent<HTMLSelectElement>) => {
    // Offline: the page stays in the language it has.
    choose(currentTarget.value as Language).catch(() => {
      currentTarget.value = language();
    });
  };
  return (
    <label class="language">
      <span class="unseen">{words.language}</span>
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
