import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERRORS, type ErrorCode } from '../../src/common/errors.js';
import type { deRefusals } from '../../src/apps/web/i18n/de-refusals.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md', 'helm/gatehouse/README.md'],
  ...['test', 'tools', 'src/apps/cli', 'src/server/providers', 'src/server/storage/migrations'].map(
    (folder) => `${folder}/README.md`,
  ),
  ...[
    'docs',
    'docs/adr',
    'docs/samples/python',
    'docs/samples/backend-python',
    'docs/samples/relay',
    'docs/samples/mcp',
  ].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** Returns a page without its code blocks. */
const proseOf = (page: string): string => read(page).replaceAll(/^ *```.*?^ *```/gms, '');

/** Returns the anchors of the headings of a page, as GitHub creates them. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = proseOf(page).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) => {
      const slug = heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-');
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  );
}

function linksOf(page: string): string[] {
  const text = proseOf(page).replaceAll(/`[^`]*`/g, '');
  const found = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)];
  return found
    .map(([, markdown, html]) => markdown ?? html ?? '')
    .filter((target) => !/^(?:https?:|mailto:)/.test(target));
}

/** Pages of the npm packages, which people read without a checkout. */
const PACKAGE_PAGES = ['server', 'client', 'guard', 'notify', 'webhooks'].map(
  (name) => `tools/packages/${name}/README.md`,
);

describe('the name on npm, where gatehouse is another project', () => {
  it.each(PAGES)('is run as npx gatehouse in a checkout only, in %s', (page) => {
    const [before = '', ...uses] = read(page).split('npx gatehouse');
    expect([uses.length > 0, /checkout/i.test(before)]).not.toEqual([true, false]);
  });

  it.each(PACKAGE_PAGES)('is @gatehouse/server in %s', (page) => {
    expect(read(page)).not.toContain('npx gatehouse');
  });

  it.each([...PAGES, ...PACKAGE_PAGES])('is not installed by its bare form in %s', (page) => {
    expect(read(page)).not.toMatch(/\bnp(?:m (?:i|install|exec)|x)(?: -\S+)* gatehouse(?:@|$)/m);
  });
});

describe.each(PAGES)('%s', (page) => {
  it('has no broken links', () => {
    const broken = linksOf(page).filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), path);
      if (!existsSync(file)) {
        return true;
      }
      const isPage = file.endsWith('.md');
      return isPage && anchor !== undefined && !anchorsOf(file.slice(ROOT.length)).has(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('has lines of at most 160 characters, except tables, code and pictures', () => {
    const lines = proseOf(page).split('\n');
    expect(lines.filter((line) => line.length > 160 && !/^ *(\||!\[|<)/.test(line))).toEqual([]);
  });
});

it('keeps the README short', () => {
  expect(read('README.md').split('\n').length).toBeLessThan(150);
});

it.each([
  ['docs/samples/relay/README.md', 'a backend in fifty lines', 'relay/relay.mjs', 50],
  ['docs/samples/mcp/README.md', 'in eighty lines', 'mcp/server.mjs', 80],
  ['docs/protect-a-backend.md', 'needs sixty lines', 'backend-python/sidecar.py', 60],
  ['docs/protect-a-backend.md', 'in sixty lines', 'backend-python/gate.py', 60],
])('keeps the sample to the size that %s promises: %s', (page, words, sample, most) => {
  expect(read(page)).toContain(words);
  const code = read(`docs/samples/${sample}`).replaceAll(/"""[^]*?"""|\/\*[^]*?\*\//g, '');
  const lines = code.split('\n').filter((line) => /^\s*[^\s#]/.test(line));
  expect(lines.length).toBeLessThanOrEqual(most);
  expect(lines.length).toBeGreaterThan(most * 0.8);
});

it('lists every page in docs/README.md', () => {
  const listed = new Set(linksOf('docs/README.md').map((target) => target.split('#')[0]));
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  expect(pages.filter((name) => name !== 'README.md' && !listed.has(name))).toEqual([]);
});

const PROJECT = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
/** The oldest supported versions of Node, such as 20.20 and 26. */
const NODE = [...PROJECT.engines.node.matchAll(/(\d+\.\d+)\.\d+/g)].map(([, version = '']) =>
  version.replace(/\.0$/, ''),
);

it.each([
  ...['README.md', 'CONTRIBUTING.md', 'docs/operate.md', 'docs/upgrade.md'],
  ...PACKAGE_PAGES,
])('names the versions of Node that package.json allows in %s', (page) => {
  const lists = [...read(page).matchAll(/\bNode ((?:\d[\d.]*(?:, | or | and )){2,}\d[\d.]*)/g)];
  const named = lists.map(([, list = '']) => list.match(/\d+(?:\.\d+)?/g));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((versions) => versions?.join() !== NODE.join())).toEqual([]);
});

/** A new code does not compile until the pages have a German message for it. */
const CODES: readonly (keyof typeof deRefusals)[] = Object.keys(ERRORS) as ErrorCode[];

it('explains every code in docs/troubleshooting.md, with its status', () => {
  const rows = [
    ...read('docs/troubleshooting.md').matchAll(/^\| `([a-z0-9-]+)`\s*\| (\d{3})\s*\|/gm),
  ];
  const explained = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]));
  const known = CODES.map((code) => [code, ERRORS[code].status]);
  expect(explained).toEqual(Object.fromEntries(known));
  expect(rows).toHaveLength(known.length);
});
