/**
 * Returns the focus that a button loses while it is disabled, or when its row is removed: to the
 * button, or to the heading of its section. A person with a keyboard would start at the top again.
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
    const heading = section?.isConnected ? section.querySelector<HTMLElement>('h1, h2') : null;
    if (heading !== null) {
      heading.tabIndex = -1;
      heading.focus();
    }
  };
  const options = { subtree: true, childList: true, attributeFilter: ['disabled'] };
  new MutationObserver(restore).observe(root, options);
}
