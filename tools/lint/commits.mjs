import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

// node tools/lint/commits.mjs [RANGE]
// Checks the subjects of commits: conventional, and at most 72 characters.
const MAX_LENGTH = 72;
const CONVENTIONAL =
  /^(build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(\([a-z0-9-]+\))?!?: \S/;
/** The last commit before the rule. */
const SINCE = 'f3c0c1f';

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' });
if (!existsSync(new URL('../../.git', import.meta.url))) {
  console.log('There are no commits to check: this is no clone.');
  process.exit();
}
const subjects = git(
  'log',
  '--no-merges',
  '--format=%s',
  ...(process.argv[2] ? [process.argv[2]] : known()),
)
  .split('\n')
  .filter((subject) => subject !== '');
const wrong = subjects.filter(
  (subject) => subject.length > MAX_LENGTH || !CONVENTIONAL.test(subject),
);
for (const subject of wrong) {
  process.stderr.write(
    `Write "type(scope): change" in at most ${MAX_LENGTH} characters: ${subject}\n`,
  );
}
process.exitCode = wrong.length === 0 ? 0 : 1;

/** A shallow clone contains only the newest commit. */
function known() {
  try {
    git('merge-base', '--is-ancestor', SINCE, 'HEAD');
    return [`${SINCE}..HEAD`];
  } catch {
    return ['-1'];
  }
}
