export interface Commit {
  readonly subject: string;
  readonly body: string;
}

/** The notes of a release as Markdown, from its commits, newest first. */
export function releaseNotes(commits: readonly Commit[]): string;

/** @param log output of `git log --format=%s%x1f%b%x1e` */
export function readLog(log: string): Commit[];
