import { render } from 'preact';
import { startLanguage } from '../i18n/messages.js';
import { isStorageBlocked, NoStorage } from '../no-storage.js';
import { startPage } from '../ui/start-page.js';
import { Console } from './console.js';
import { loadTexts } from './i18n/texts.js';

const root = document.getElementById('page');
if (root !== null) {
  const show = () => render(isStorageBlocked() ? <NoStorage /> : <Console />, root);
  startPage(root);
  void loadTexts()
    .then(() => startLanguage(show))
    .then(show);
}
