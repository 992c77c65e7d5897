/**
 * Runs in a page and returns what cannot be seen: what sticks out of the window, what its own box cuts
 * off, and which texts or controls cover one another. Of an open dialog, what is in it.
 */
export const FIND_COVERED = `(() => {
  const found = new Set();
  const describe = (element) =>
    element.tagName.toLowerCase() + ' "' + (element.textContent ?? '').trim().slice(0, 30) + '"';
  const isClipped = (element) =>
    element !== null &&
    (getComputedStyle(element).clipPath !== 'none' || isClipped(element.parentElement));
  const root = document.querySelector('dialog[open]') ?? document.body;
  const boxes = [];
  for (const element of root.querySelectorAll('*')) {
    const { overflowX } = getComputedStyle(element);
    const isShown = element.checkVisibility({ visibilityProperty: true }) && !isClipped(element);
    // For screen readers or the printer alone, or scrolled in a box of its own.
    if (!isShown || element.closest('.unseen, .sheet, option, pre, .scroll') !== null) {
      continue;
    }
    const isField = element.matches('input, select, textarea');
    const isCutting = overflowX !== 'visible' || element.matches('button, .button, .badge');
    const isCut = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
    if (isCutting && isCut && !isField && !element.hasAttribute('title')) {
      found.add('cut off: ' + describe(element));
    }
    const texts = [...element.childNodes].filter(
      (node) => node.nodeType === Node.TEXT_NODE && node.nodeValue.trim() !== '',
    );
    for (const text of texts) {
      const range = document.createRange();
      range.selectNodeContents(text);
      boxes.push(...[...range.getClientRects()].map((box) => ({ element, box })));
    }
    if (isField) {
      boxes.push({ element, box: element.getBoundingClientRect() });
    }
  }
  const width = document.documentElement.clientWidth;
  boxes.forEach(({ element, box }, at) => {
    if (box.left < -1 || box.right > width + 1) {
      found.add('outside the window: ' + describe(element));
    }
    for (const other of boxes.slice(at + 1)) {
      const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (element !== other.element && across > 2 && down > 5) {
        found.add('covered: ' + describe(element) + ' and ' + describe(other.element));
      }
    }
  });
  return [...found];
})()`;
