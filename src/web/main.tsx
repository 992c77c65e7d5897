import { render } from 'preact';
import { Page } from './account/page.js';
import { takeArrival } from './account/tab-state.js';
import { WaitingRequest } from './account/waiting-request.js';
import { requestIn } from './worker/page-messages.js';

const root = document.getElementById('page');
if (root !== null) {
  // The arrival is taken out of the address.
  const request = requestIn(location.href);
  const arrival = takeArrival();
  render(
    <>
      <Page arrival={arrival} />
      <WaitingRequest first={request} />
    </>,
    root,
  );
}
