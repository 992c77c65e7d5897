import * as v from 'valibot';
import type { Clock } from '../../common/runtime/clock.js';
import {
  readJson,
  UpstreamError,
  type UpstreamHttp,
  type UpstreamRequest,
} from '../http/upstream-http.js';

export interface GitHubUser {
  /** The numeric id: a renamed account keeps it, and a re-registered login gets another one. */
  readonly subject: string;
  readonly login: string;
}

/** `unknown_token`: GitHub refuses the token. `absent`: it has no visible user with that id. */
export type GitHubLookup = GitHubUser | 'unknown_token' | 'absent';

const LONGEST_PAUSE_MS = 60 * 60 * 1000;

const USER = v.object({
  id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  login: v.pipe(v.string(), v.nonEmpty()),
});

export class GitHubApi {
  constructor(
    private readonly apiUrl: string,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {}

  userByToken(accessToken: string, signal?: AbortSignal): Promise<GitHubLookup> {
    return this.readUser(['user'], accessToken, signal);
  }

  userById(subject: string, token: string, signal?: AbortSignal): Promise<GitHubLookup> {
    return this.readUser(['user', subject], token, signal);
  }

  /** @param path segments, encoded here @returns no answer to a rate limit, which is thrown */
  async call(
    path: readonly string[],
    token: string,
    request: Pick<UpstreamRequest, 'method' | 'signal'> = {},
  ): Promise<Response> {
    const url = `${this.apiUrl}/${path.map(encodeURIComponent).join('/')}`;
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': 'gatehouse',
    };
    const response = await this.http.fetch(url, { ...request, headers });
    this.refuseRateLimit(response);
    return response;
  }

  private async readUser(
    path: readonly string[],
    token: string,
    signal: AbortSignal | undefined,
  ): Promise<GitHubLookup> {
    const response = await this.call(path, token, { signal });
    switch (response.status) {
      case 200: {
        const { id, login } = await readJson(response, USER);
        return { subject: String(id), login };
      }
      case 401:
        return 'unknown_token';
      case 404:
        return 'absent';
      default:
        throw new UpstreamError('unexpected_answer');
    }
  }

  /** GitHub answers 403 for both of its rate limits; the headers distinguish it from a plain refusal. */
  private refuseRateLimit(response: Response): void {
    const retryAfter = response.headers.get('retry-after');
    const isSpent = response.headers.get('x-ratelimit-remaining') === '0';
    if (response.status !== 403 || (retryAfter === null && !isSpent)) {
      return;
    }
    const resetMs = Number(response.headers.get('x-ratelimit-reset')) * 1000 - this.clock.now();
    const pauseMs = retryAfter === null ? resetMs : Number(retryAfter) * 1000;
    const isSane = pauseMs >= 0 && pauseMs <= LONGEST_PAUSE_MS;
    throw new UpstreamError('rate_limited', { retryAfterMs: isSane ? pauseMs : undefined });
  }
}
