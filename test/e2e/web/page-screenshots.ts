import { mkdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Visitor } from '../../fixtures/programs/browser-fixture.js';
import { overflow } from './account-page-acts.js';

/**
 * Returns visual faults: elements outside the window, clipped content, and covered texts or
 * controls. In an open dialog, only its content counts.
 */
const FIND_COVERED = `(() => {
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

/** The folder of the pictures. */
export const RESULTS = join(import.meta.dirname, '../../../test-results');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const SIZES = {
  desktop: { width: 1200, height: 800 },
  phone: { width: 360, height: 740 },
} as const;

/** Pages at 200 %, in the smallest windows: 1280 × 800 and 320 px (WCAG 1.4.4, 1.4.10). */
const ENLARGED = {
  /** The whole page is enlarged: half the window, two pixels of the screen for each. */
  zoom: { width: 640, height: 400, deviceScaleFactor: 2, fontSize: 16 },
  /** The text is enlarged, as set in the browser. */
  text: { width: 640, height: 800, deviceScaleFactor: 1, fontSize: 32 },
} as const;
/** The default size of text, of which the pages use 15 parts of 16. */
const TEXT_SIZE = `Math.round(parseFloat(getComputedStyle(document.head).fontSize) / 0.9375)`;

/** Colours change over some frames, which a page without a window does not have. */
const END_TRANSITIONS = `document.getAnimations()
  .filter((one) => one.effect.getComputedTiming().endTime <= 1000)
  .forEach((one) => one.finish())`;

/** True if pictures are kept. They take a fifth of the work of the specs. */
export const KEEPS_PICTURES = process.env['GATEHOUSE_TEST_PICTURES'] !== undefined;
/** True if pictures of enlarged pages without a fault are kept, too. */
const KEEPS_ENLARGED = process.env['GATEHOUSE_TEST_PICTURES'] === 'all';
const THEMES = ['light', 'dark'] as const;

/** Checks the appearance and accessibility of the states of a page. */
export class PageScreenshots {
  private constructor(
    private readonly pictures: string,
    private readonly axe: string,
  ) {}

  /** @param folder of the pictures, below test-results */
  static async open(folder: string): Promise<PageScreenshots> {
    const pictures = join(RESULTS, folder);
    mkdirSync(pictures, { recursive: true });
    return new PageScreenshots(pictures, await readFile(AXE, 'utf8'));
  }

  /** Checks the page in each theme, size and direction. */
  async check(visitor: Visitor, name: string): Promise<void> {
    const { page } = visitor;
    const found: unknown[] = [];
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate('scrollTo(0, 0)');
        await page.evaluate(END_TRANSITIONS);
        if (KEEPS_PICTURES) {
          const path = join(this.pictures, `${name}-${size}-${colorScheme}.jpeg`);
          await page.screenshot({ path, quality: 80, fullPage: true, animations: 'disabled' });
        }
        const violations = await this.violationsNow(visitor, colorScheme);
        found.push(...violations.map((one) => `${size} ${colorScheme}: ${one}`));
      }
      found.push(...(await cutOff(visitor)).map((one) => `${size}: ${one}`));
    }
    for (const [what, size] of Object.entries(ENLARGED)) {
      found.push(...(await this.enlarged(visitor, size, `${name}-${what}`)));
    }
    expect(found).toEqual([]);
  }

  /** Returns the parts that are cut off or covered at this size, and keeps a picture. */
  private async enlarged(
    { page }: Visitor,
    { fontSize, ...size }: (typeof ENLARGED)[keyof typeof ENLARGED],
    name: string,
  ): Promise<readonly string[]> {
    const devTools = await page.context().newCDPSession(page);
    const show = async (height: number, standard: number): Promise<void> => {
      const metrics = { ...size, height, mobile: false };
      await devTools.send('Emulation.setDeviceMetricsOverride', metrics);
      await devTools.send('Page.setFontSizes', { fontSizes: { standard, fixed: standard } });
      await page.waitForFunction(`innerHeight === ${height} && ${TEXT_SIZE} === ${standard}`);
    };
    await show(size.height, fontSize);
    await page.evaluate('scrollTo(0, 0)');
    const found = await page.evaluate<string[]>(FIND_COVERED);
    if (found.length > 0 || KEEPS_ENLARGED) {
      await show(await page.evaluate<number>('document.documentElement.scrollHeight'), fontSize);
      const { data } = await devTools.send('Page.captureScreenshot');
      await writeFile(join(this.pictures, `${name}.png`), Buffer.from(data, 'base64'));
    }
    await show(size.height, 16);
    await devTools.send('Emulation.clearDeviceMetricsOverride');
    await devTools.detach();
    return found.map((one) => `${name}: ${one}`);
  }

  /** In the dark theme, only the rules about colours can find more. */
  private async violationsNow(
    { page }: Visitor,
    theme: (typeof THEMES)[number],
  ): Promise<readonly string[]> {
    // The document keeps the script, which is large.
    if (!(await page.evaluate<boolean>("'axe' in window"))) {
      await page.evaluate(`${this.axe}; undefined`);
    }
    const runOnly = theme === 'dark' ? ['color-contrast', 'link-in-text-block'] : undefined;
    const violations = await page.evaluate<AxeResults['violations']>(
      `axe.run(${JSON.stringify({ resultTypes: ['violations'], runOnly })})
        .then(({ violations }) => violations)`,
    );
    return violations.map(({ id, nodes }) => `${id} at ${nodes.map((one) => one.html).join(' ')}`);
  }
}

/** Returns the parts that are wider than the window, in both writing directions. */
async function cutOff(visitor: Visitor): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const direction of ['rtl', 'ltr']) {
    await visitor.page.evaluate(`document.documentElement.dir = '${direction}'`);
    if ((await overflow(visitor)) > 0) {
      wrong.push(`wider than the window (${direction})`);
    }
  }
  return wrong;
}
