/** Sets what holds for both pages: the focus, the presses of buttons, and the Back button of the browser. */
export function startPage(root: HTMLElement): void {
  keepFocus(root);
  actOnce();
  reloadRestored();
}

/**
 * Returns the focus that a button loses while it is disabled, or when it is removed: to the button, or to
 * the heading of its section or of the page. A person with a keyboard would start at the top again.
 */
function keepFocus(root: HTMLElement): void {
  let last: HTMLElement | null = null;
  let section: Element | null = null;
  const remember = (target: EventTarget | null) => {
    last = target instanceof HTMLElement ? target : null;
    section = last?.closest('section') ?? null;
  };
  // A click on the page itself also ends the focus, and is intended.
  document.addEventListener('pointerdown', () => remember(null));
  document.addEventListener('focusin', ({ target }) => remember(target));
  const restore = () => {
    if (last === null || document.activeElement !== document.body) {
      return;
    }
    if (last.isConnected) {
      last.focus();
      return;
    }
    const headings = section?.isConnected ? section.querySelectorAll<HTMLElement>('h1, h2') : [];
    const heading = headings[0] ?? root.querySelector<HTMLElement>('h1');
    if (heading !== null) {
      heading.tabIndex = -1;
      heading.focus();
    }
  };
  const options = { subtree: true, childList: true, attributeFilter: ['disabled'] };
  new MutationObserver(restore).observe(root, options);
}

/**
 * Lets a press act once. The second click of a double click, and Enter while it is held, would use the button that
 * has taken the place of the pressed one.
 */
function actOnce(): void {
  let pressed: Element | null = null;
  const onClick = (event: MouseEvent) => {
    const button = event.target instanceof Element ? event.target.closest('button, a') : null;
    if (event.detail > 1 && button !== null && button !== pressed) {
      event.preventDefault();
      event.stopPropagation();
    } else {
      pressed = button;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isText = event.target instanceof HTMLTextAreaElement;
    if (event.repeat && event.key === 'Enter' && !isText) {
      event.preventDefault();
    }
  };
  document.addEventListener('click', onClick, { capture: true });
  document.addEventListener('keydown', onKeyDown, { capture: true });
}

/**
 * Loads the page again when the browser shows it as it was left. It would have the keys and the content of a session
 * that may have ended since, and may be waiting for an answer that never comes.
 */
function reloadRestored(): void {
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) {
      location.reload();
    }
  });
}
