import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
/** Many READMEs end with this section. */
const LICENCE_SECTION = /^#+ \(?licen[cs]e[^]*/im;
const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyrightnotice)/i;

/**
 * Writes the names, versions and licences of the packages in the bundle.
 *
 * @param {string} fileName
 * @returns {import('rolldown').Plugin}
 */
export function thirdParty(fileName) {
  return {
    name: 'third-party',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => part.moduleIds ?? []);
      const folders = modules.flatMap((id) => PACKAGE.exec(id.replace(/^\0/, ''))?.[0] ?? []);
      const packages = [...new Set(folders)].map(describe).sort(byName);
      this.emitFile({ type: 'asset', fileName, source: [HEADING, ...packages.map(text)].join('') });
    },
  };
}

const HEADING = 'These packages, or parts of them, are linked into the programs in this folder.\n';

function describe(folder) {
  const { name, version, license, licenses, author } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const read = ({ name: file }) => readFileSync(join(folder, file), 'utf8').trim();
  const own = files.filter((entry) => LICENCE_FILE.test(entry.name)).map(read);
  const pages = files.filter((entry) => /^readme/i.test(entry.name)).map(read);
  const sections = pages.flatMap((page) => LICENCE_SECTION.exec(page)?.[0] ?? []);
  const texts = own.length > 0 ? own : sections;
  // Older packages list several licences.
  const stated = license ?? licenses?.map(({ type }) => type).join(' OR ');
  return { name, version, license: stated ?? 'not stated', author, texts };
}

const byName = (one, other) =>
  `${one.name}@${one.version}` < `${other.name}@${other.version}` ? -1 : 1;

function text({ name, version, license, author, texts }) {
  const by = typeof author === 'string' ? author : author?.name;
  const own = texts.length > 0 ? texts : [`Copyright: ${by ?? `the authors of ${name}`}`];
  return `\n${'-'.repeat(79)}\n${name} ${version} (${license})\n\n${own.join('\n\n')}\n`;
}
