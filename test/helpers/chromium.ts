import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { WAIT_LIMIT_MS } from './wait.js';

const CHROMIUM = '/usr/bin/chromium';
/** The tests may run as root, on a machine without a display or a way out. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Names that lead here, and are not this machine for a browser.
  '--host-resolver-rules=MAP *.example 127.0.0.1',
];

/** Requests that fail, and a header that counts for https alone, are listed as errors too. */
const NO_FAULT = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/;

/** Whether the machine has Chromium; where it must (CI), its absence is an error. */
export function hasChromium(): boolean {
  if (existsSync(CHROMIUM)) {
    return true;
  }
  if (process.env['CI'] === 'true') {
    throw new Error('These tests need Chromium. On Debian: apt-get install chromium');
  }
  process.stderr.write('NOT RUN: tests in a browser. On Debian: apt-get install chromium\n');
  return false;
}

export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** Somebody at a browser of their own. */
export interface Visitor {
  readonly page: Page;
  /** What the browser complained of: errors of scripts, and everything its policy kept from running. */
  readonly complaints: readonly string[];
  /** What the page shows, as text. */
  text(): Promise<string>;
  press(name: string | RegExp): Promise<void>;
  leave(): Promise<void>;
}

export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_LIMIT_MS);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !NO_FAULT.test(message.text())) {
      complaints.push(message.text());
    }
  });
  await page.goto(url);
  return {
    page,
    complaints,
    text: () => page.locator('body').innerText(),
    press: (name) => page.getByRole('button', { name, exact: true }).click(),
    leave: () => context.close(),
  };
}
