import { render } from 'preact';
import { takeArrival } from './arrival.js';
import { Page } from './page.js';

const root = document.getElementById('page');
if (root !== null) {
  render(<Page arrival={takeArrival()} />, root);
}
