import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Timers } from '../../src/common/runtime/timers.js';
import { MetricsService } from '../../src/server/metrics/metrics.service.js';

const ROOT = join(import.meta.dirname, '../..');
const SOURCE = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /(?<!spec)\.ts$/.test(path))
  .map((path) => readFileSync(join(ROOT, 'src', path), 'utf8'))
  .join('\n');

const [, ...SECTIONS] = readFileSync(join(ROOT, 'docs/runbooks.md'), 'utf8').split(/^## /m);

/** Words of grep, which are metrics, parts of log lines, or values of labels. */
function searchedIn(section: string): { readonly before: string; readonly words: string[] } {
  const [before = '', command = ''] = section.split(/^```(?:sh)?$/m);
  const words = [...command.matchAll(/(?:grep|-e) (?:-A \d+ )?(?:'([^']+)'|([a-z]\w+))/g)];
  return { before, words: words.map(([, quoted, bare]) => quoted ?? bare ?? '') };
}

const metrics = new MetricsService(new Timers());
metrics.observeProcess('0', 'unknown');
const OF_PROCESS = metrics.registry.getMetricsAsArray().map(({ name }) => name);

describe.each(SECTIONS.map((text) => ({ name: /^\w+/.exec(text)?.[0] ?? '', text })))(
  '$name',
  ({ text }) => {
    it('begins with a command that finds log lines or metrics of the server', () => {
      const { before, words } = searchedIn(text);
      expect(before).not.toMatch(/^1\. /m);
      expect(words).not.toEqual([]);
      const missing = words.filter((word) => !OF_PROCESS.includes(word) && !SOURCE.includes(word));
      expect(missing).toEqual([]);
    });
  },
);
