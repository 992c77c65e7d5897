/**
 * Returns the focus that a button loses while it is disabled, or when it is removed: to the button, or to
 * the heading of its section or of the page. A person with a keyboard would start at the top again.
 */
export function keepFocus(root: HTMLElement): void {
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
