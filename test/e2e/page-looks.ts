import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Visitor } from '../helpers/chromium.js';
import { overflow } from './account-page-acts.js';

/** Kept after the run, to be looked at. */
const RESULTS = join(import.meta.dirname, '../../test-results');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const SIZES = {
  desktop: { width: 1200, height: 800 },
  /** A desktop at 200 % as well: half the pixels in each direction. */
  phone: { width: 360, height: 740 },
} as const;
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
        const path = join(this.pictures, `${name}-${size}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: true, animations: 'disabled' });
        const violations = await this.violationsNow(visitor);
        found.push(...violations.map((one) => `${size} ${colorScheme}: ${one}`));
      }
      found.push(...(await cutOff(visitor)).map((one) => `${size}: ${one}`));
    }
    expect(found).toEqual([]);
  }

  private async violationsNow({ page }: Visitor): Promise<readonly string[]> {
    await page.evaluate(`${this.axe}; undefined`);
    const { violations } = await page.evaluate<AxeResults>('axe.run()');
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
