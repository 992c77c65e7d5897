import type { GitHubApi } from './github-api.js';
import { readJsonObject } from './response-body.js';
import { UpstreamError } from './upstream-error.js';

export interface GitHubPerson {
  /** The numeric id, which a renamed account keeps and a re-registered login does not get. */
  readonly subject: string;
  readonly login: string;
}

/** `unknown_token`: GitHub does not accept the token. `absent`: it sees nobody with that id. */
export type GitHubLookup = GitHubPerson | 'unknown_token' | 'absent';

/** Finds out who somebody is at GitHub. */
export class GitHubPeople {
  constructor(private readonly api: GitHubApi) {}

  /** Whose token it is. @throws UpstreamError */
  byToken(accessToken: string, signal?: AbortSignal): Promise<GitHubLookup> {
    return this.read(['user'], accessToken, signal);
  }

  /** Who has that numeric id now. @throws UpstreamError */
  byId(subject: string, token: string, signal?: AbortSignal): Promise<GitHubLookup> {
    return this.read(['user', subject], token, signal);
  }

  private async read(
    path: readonly string[],
    token: string,
    signal: AbortSignal | undefined,
  ): Promise<GitHubLookup> {
    const response = await this.api.call(path, token, { signal });
    if (response.status === 401) {
      return 'unknown_token';
    }
    if (response.status === 404) {
      return 'absent';
    }
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    const { id, login } = await readJsonObject(response);
    if (!Number.isSafeInteger(id) || Number(id) <= 0 || typeof login !== 'string' || login === '') {
      throw new UpstreamError('unexpected_answer');
    }
    return { subject: String(id), login };
  }
}
