/**
 * Returns the section of a version in the changelog: the notes of its release. Links to files are absolute there.
 *
 * @param {string} changelog
 * @param {{ tag: string, repository: string }} release such as `v0.1.0` and `example/gatehouse`
 * @throws if the changelog has no such section
 */
export function releaseNotes(changelog, { tag, repository }) {
  const heading = `[${tag.replace(/^v/, '')}] - `;
  const section = changelog.split('\n## ').find((text) => text.startsWith(heading));
  if (section === undefined) {
    throw new Error(`CHANGELOG.md has no section ${heading}…`);
  }
  const base = `https://github.com/${repository}/blob/${tag}/`;
  const text = section.slice(section.indexOf('\n')).trim();
  return text.replaceAll(/\]\((?!https?:|#)/g, `](${base}`);
}
