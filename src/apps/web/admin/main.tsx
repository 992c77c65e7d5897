import { render } from 'preact';
import { startLanguage } from '../i18n/messages.js';
import { keepFocus } from '../ui/keep-focus.js';
import { Console } from './console.js';
import { loadTexts } from './i18n/texts.js';

const root = document.getElementById('page');
if (root !== null) {
  const show = () => render(<Console />, root);
  keepFocus(root);
  void loadTexts()
    .then(() => startLanguage(show))
    .then(show);
}
