import { mkdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Visitor } from '../helpers/chromium.js';
import { overflow } from './account-page-acts.js';
import { FIND_COVERED } from './covered-parts.js';

/** Kept after the run, to be looked at. */
const RESULTS = join(import.meta.dirname, '../../test-results');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const SIZES = {
  desktop: { width: 1200, height: 800 },
  phone: { width: 360, height: 740 },
} as const;

/** Enlarged to 200 %, each in its smallest window: 1280 × 800 and 320 pixels of the same text (WCAG 1.4.4 and 1.4.10). */
const ENLARGED = {
  /** The whole page: half the window, and two pixels of the screen for each of its own. */
  zoom: { width: 640, height: 400, deviceScaleFactor: 2, fontSize: 16 },
  /** The text alone, as set in the browser. */
  text: { width: 640, height: 800, deviceScaleFactor: 1, fontSize: 32 },
} as const;
/** In the page: the default size of text, of which the style of the pages takes 15 parts of 16. */
const TEXT_SIZE = `Math.round(parseFloat(getComputedStyle(document.head).fontSize) / 0.9375)`;

/** In the page: colours that change with the theme do so over some frames, of which one without a window has none. */
const END_TRANSITIONS = `document.getAnimations()
  .filter((one) => one.effect.getComputedTiming().endTime <= 1000)
  .forEach((one) => one.finish())`;

/** Whether pictures of enlarged pages are kept where nothing is wrong. */
const KEEPS_ENLARGED = process.env['GATEHOUSE_TEST_PICTURES'] === 'all';
const THEMES = ['light', 'dark'] as const;

/** How the states of a page look, and whether everyone can use them. */
export class PageLooks {
  private constructor(
    private readonly pictures: string,
    private readonly axe: string,
  ) {}

  /** @param folder of the pictures, below test-results */
  static async open(folder: string): Promise<PageLooks> {
    const pictures = join(RESULTS, folder);
    mkdirSync(pictures, { recursive: true });
    return new PageLooks(pictures, await readFile(AXE, 'utf8'));
  }

  /** Checks what is shown now in each theme and size, and right to left, and keeps pictures. */
  async check(visitor: Visitor, name: string): Promise<void> {
    const { page } = visitor;
    const found: unknown[] = [];
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate('scrollTo(0, 0)');
        await page.evaluate(END_TRANSITIONS);
        const path = join(this.pictures, `${name}-${size}-${colorScheme}.jpeg`);
        await page.screenshot({ path, quality: 80, fullPage: true, animations: 'disabled' });
        const violations = await this.violationsNow(visitor);
        found.push(...violations.map((one) => `${size} ${colorScheme}: ${one}`));
      }
      found.push(...(await cutOff(visitor)).map((one) => `${size}: ${one}`));
    }
    for (const [what, size] of Object.entries(ENLARGED)) {
      found.push(...(await this.enlarged(visitor, size, `${name}-${what}`)));
    }
    expect(found).toEqual([]);
  }

  /** What is cut off or covered at this size; keeps a picture of it. */
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

  private async violationsNow({ page }: Visitor): Promise<readonly string[]> {
    // A document keeps it, and it is large.
    if (!(await page.evaluate<boolean>("'axe' in window"))) {
      await page.evaluate(`${this.axe}; undefined`);
    }
    const violations = await page.evaluate<AxeResults['violations']>(
      `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
    );
    return violations.map(({ id, nodes }) => `${id} at ${nodes.map((one) => one.html).join(' ')}`);
  }
}

/** What is wider than the window, in both writing directions. */
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
