import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageChart } from './chart.mjs';
import { releaseNotes } from './notes.mjs';
import { moveVersion } from './version.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const USAGE = `node tools/release/main.mjs version 0.2.0                        move every version
node tools/release/main.mjs check v0.2.0                         is that the version of this checkout?
node tools/release/main.mjs notes v0.2.0 example/gatehouse       release notes, from the changelog
node tools/release/main.mjs chart example/gatehouse FOLDER       package the chart for that repository
`;

const read = (file) => readFileSync(`${ROOT}/${file}`, 'utf8');

const COMMANDS = {
  async version(next) {
    const files = await moveVersion(ROOT, next, new Date().toISOString().slice(0, 10));
    return [
      ...files.map((file) => `changed ${file}`),
      `Then: git commit -am "chore(release): ${next}" && git tag -s v${next}`,
    ].join('\n');
  },
  check(tag) {
    const { version } = JSON.parse(read('package.json'));
    if (tag !== `v${version}`) {
      throw new Error(`The tag is ${tag}, and the version ${version}.`);
    }
    releaseNotes(read('CHANGELOG.md'), { tag, repository: '' });
    return `${tag} is the version of this checkout, and the changelog has its section.`;
  },
  notes(tag, repository) {
    return releaseNotes(read('CHANGELOG.md'), { tag, repository });
  },
  chart(repository, destination) {
    return packageChart({ root: ROOT, repository, destination });
  },
};

const [name = '', ...args] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined || args.length !== command.length) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  try {
    process.stdout.write(`${await command(...args)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
