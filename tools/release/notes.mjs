const SECTIONS = [
  ['feat', 'Added'],
  ['fix', 'Fixed'],
  ['perf', 'Faster'],
];
const SUBJECT = /^(?<type>[a-z]+)(?:\((?<scope>[^)]*)\))?(?<bang>!)?: (?<words>.+)$/;

/**
 * Formats the notes of a release as Markdown (Conventional Commits 1.0.0). Internal commits are
 * only counted.
 *
 * @param {readonly { subject: string, body: string }[]} commits newest first
 */
export function releaseNotes(commits) {
  const parsed = commits.map(({ subject, body }) => ({
    ...(SUBJECT.exec(subject)?.groups ?? { type: '', words: subject }),
    breaking: /^BREAKING[ -]CHANGE: (?<words>(?:.+\n?)+)/m.exec(body)?.groups?.words?.trim(),
  }));
  const breaking = parsed.filter((commit) => commit.bang || commit.breaking);
  const lists = [
    ['Breaking changes', breaking.map((commit) => commit.breaking ?? commit.words)],
    ...SECTIONS.map(([type, title]) => [
      title,
      parsed
        .filter((commit) => commit.type === type && !breaking.includes(commit))
        .map(({ scope, words }) => (scope ? `**${scope}**: ${words}` : words)),
    ]),
  ];
  const listed = lists.reduce((sum, [, lines]) => sum + lines.length, 0);
  const others = commits.length - listed;
  return [
    ...lists
      .filter(([, lines]) => lines.length > 0)
      .map(([title, lines]) => `## ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`),
    ...(others > 0 ? [`${others} further commits: tests, documentation, structure.\n`] : []),
  ].join('\n');
}

/**
 * @param {string} log output of `git log --format=%s%x1f%b%x1e`
 */
export function readLog(log) {
  return log
    .split('\x1e')
    .map((entry) => entry.replace(/^\n/, ''))
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [subject = '', body = ''] = entry.split('\x1f');
      return { subject, body };
    });
}
