import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SEMVER = /^(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?$/;

/** Files that state the version, with its forms; a file without them is an error. */
const PLACES = {
  'package.json': ['"name": "gatehouse",\n  "version": "{}"'],
  'package-lock.json': [
    '"name": "gatehouse",\n  "version": "{}"',
    '"name": "gatehouse",\n      "version": "{}"',
  ],
  'helm/gatehouse/Chart.yaml': ['\nversion: {}\n', "\nappVersion: '{}'\n"],
  'docker/Dockerfile': ['ARG VERSION={}\n'],
  'docs/openapi.json': ['"version": "{}"'],
  'docs/admin-openapi.json': ['"version": "{}"'],
  'docs/backends-openapi.json': ['"version": "{}"'],
  'docs/samples/mcp/package.json': ['"@gatehouse/guard": "^{}"'],
  'docs/samples/relay/package.json': ['"@gatehouse/client": "^{}"', '"@gatehouse/guard": "^{}"'],
};
/** Forms in which pages contain the version: the image, and packages as files. */
const IN_PAGES = [
  'gatehouse:{}',
  'gatehouse-{}.tgz',
  'gatehouse-server-{}.tgz',
  'gatehouse-client-{}.tgz',
  'gatehouse-guard-{}.tgz',
  'gatehouse-notify-{}.tgz',
  'gatehouse-webhooks-{}.tgz',
];

/**
 * Moves the version in all files, and begins its section of the changelog.
 *
 * @param {string} root the folder of the checkout
 * @param {string} next such as `0.2.0`, higher than the present one
 * @param {string} date of the release, such as `2026-01-31`
 * @returns {Promise<string[]>} the files that changed
 * @throws when `next` is no higher version, or a file does not state the present one; nothing is
 * written then
 */
export async function moveVersion(root, next, date) {
  const read = (file) => readFile(join(root, file), 'utf8');
  const { version: current } = JSON.parse(await read('package.json'));
  if (!SEMVER.test(next) || compare(next, current) <= 0) {
    throw new Error(`${next} is not a version above ${current}.`);
  }
  const changed = new Map();
  for (const [file, texts] of Object.entries(PLACES)) {
    let text = await read(file);
    for (const place of texts) {
      const present = place.replace('{}', current);
      if (!text.includes(present)) {
        throw new Error(`${file} does not have ${JSON.stringify(present)}.`);
      }
      text = text.replaceAll(present, place.replace('{}', next));
    }
    changed.set(file, text);
  }
  const docs = await readdir(join(root, 'docs'));
  const pages = docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
  for (const file of ['README.md', ...pages]) {
    const text = await read(file);
    const moved = IN_PAGES.reduce(
      (page, place) => page.replaceAll(place.replace('{}', current), place.replace('{}', next)),
      text,
    );
    if (moved !== text) {
      changed.set(file, moved);
    }
  }
  const unreleased = '## [Unreleased]\n';
  const changelog = await read('CHANGELOG.md');
  if (!changelog.includes(unreleased)) {
    throw new Error('CHANGELOG.md has no section [Unreleased].');
  }
  const section = `${unreleased}\n## [${next}] - ${date}\n`;
  changed.set('CHANGELOG.md', changelog.replace(unreleased, section));
  for (const [file, text] of changed) {
    await writeFile(join(root, file), text);
  }
  return [...changed.keys()];
}

/** Compares by precedence (Semantic Versioning 2.0.0, section 11), identifiers as text. */
function compare(left, right) {
  const numbers = (version) => (SEMVER.exec(version) ?? []).slice(1, 4).map(Number);
  const [a, b] = [numbers(left), numbers(right)];
  const index = a.findIndex((part, at) => part !== b[at]);
  if (index !== -1) {
    return a[index] - b[index];
  }
  const isRelease = (version) => Number(!version.includes('-'));
  return isRelease(left) - isRelease(right) || left.localeCompare(right, 'en');
}
