export interface Release {
  /** Such as `v0.1.0`. */
  readonly tag: string;
  /** Such as `example/gatehouse`. */
  readonly repository: string;
}

/** The notes of a release as Markdown, from its section of the changelog. */
export function releaseNotes(changelog: string, release: Release): string;
