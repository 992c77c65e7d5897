import { render } from 'preact';
import { addWords, startLanguage } from '../words/words.js';
import { Console } from './console.js';
import { loadTexts } from './words/texts.js';

const root = document.getElementById('page');
if (root !== null) {
  const show = () => render(<Console />, root);
  void addWords(loadTexts)
    .then(() => startLanguage(show))
    .then(show);
}
