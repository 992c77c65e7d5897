import { render } from 'preact';
import { Page } from './account/page.js';
import { takeArrival } from './account/tab-state.js';
import { startLanguage } from './words/words.js';
import { requestIn } from './worker/page-messages.js';

const root = document.getElementById('page');
if (root !== null) {
  // The arrival is taken out of the address.
  const request = requestIn(location.href);
  const arrival = takeArrival();
  const show = () => render(<Page arrival={arrival} request={request} />, root);
  void startLanguage(show).then(show);
}
