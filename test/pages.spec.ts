import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERRORS } from '../src/common/errors.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Every page for readers, by its path from the root. */
const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md', 'helm/gatehouse/README.md'],
  ...['docs', 'docs/adr'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = read(page)
    .replaceAll(/^ *```.*?^ *```/gms, '')
    .matchAll(/^#{1,6} (.+)$/gm);
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

/** Targets of links and images within the repository. */
function linksOf(page: string): string[] {
  const text = read(page)
    .replaceAll(/^ *```.*?^ *```/gms, '')
    .replaceAll(/`[^`]*`/g, '');
  const found = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)];
  return found
    .map(([, markdown, html]) => markdown ?? html ?? '')
    .filter((target) => !/^(?:https?:|mailto:)/.test(target));
}

describe.each(PAGES)('%s', (page) => {
  it('links to what exists', () => {
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
});

it('the README stays short', () => {
  expect(read('README.md').split('\n').length).toBeLessThan(150);
});

it('docs/README.md lists every page', () => {
  const listed = new Set(linksOf('docs/README.md').map((target) => target.split('#')[0]));
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  expect(pages.filter((name) => name !== 'README.md' && !listed.has(name))).toEqual([]);
});

it('docs/troubleshooting.md explains every code, with its status', () => {
  const rows = [
    ...read('docs/troubleshooting.md').matchAll(/^\| `([a-z0-9-]+)`\s*\| (\d{3})\s*\|/gm),
  ];
  const explained = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]));
  const known = Object.entries(ERRORS).map(([code, { status }]) => [code, status]);
  expect(explained).toEqual(Object.fromEntries(known));
  expect(rows).toHaveLength(known.length);
});
