import { render } from 'preact';
import { Page } from './account/page.js';
import { takeArrival } from './account/tab-state.js';

const root = document.getElementById('page');
if (root !== null) {
  render(<Page arrival={takeArrival()} />, root);
}
