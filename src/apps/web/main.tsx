import { render } from 'preact';
import { Page } from './account/page.js';
import { takeArrival } from './account/tab-state.js';
import { startLanguage } from './i18n/messages.js';
import { isStorageBlocked, NoStorage } from './no-storage.js';
import { startPage } from './ui/start-page.js';
import { requestIn } from './worker/page-messages.js';

const root = document.getElementById('page');
if (root !== null) {
  // Read first, because the arrival is removed from the address.
  const request = requestIn(location.href);
  const arrival = isStorageBlocked() ? null : takeArrival();
  const show = () =>
    render(arrival === null ? <NoStorage /> : <Page arrival={arrival} request={request} />, root);
  startPage(root);
  void startLanguage(show).then(show);
}
