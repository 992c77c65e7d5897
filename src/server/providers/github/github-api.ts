import * as v from 'valibot';
import { readRetryAfter } from '../../../common/retry-after.js';
import type { Clock } from '../../../common/runtime/clock.js';
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
export type GitHubLookup = GitHubUser | 'unknown_token' | 'absent' | 'suspended';

export interface GitHubOrganization {
  /** The numeric id: a renamed organisation keeps it, and another one can take its name. */
  readonly id: string;
  /** Lower case. */
  readonly name: string;
}

const LONGEST_PAUSE_MS = 60 * 60 * 1000;

const ID = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.transform(String));

/** Logins of people and organisations. GitHub itself allows 39 letters, digits and hyphens. */
const LOGIN = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/));

const USER = v.object({
  id: ID,
  login: LOGIN,
  /** A time; an Enterprise Server alone reports it. */
  suspended_at: v.optional(v.unknown()),
});

export const ORGANIZATION = v.pipe(
  v.object({ id: ID, login: LOGIN }),
  v.transform(({ id, login }): GitHubOrganization => ({ id, name: login.toLowerCase() })),
);

/** The answer to the token of a person who is suspended, for which GitHub has no code. */
const SUSPENDED = v.object({ message: v.pipe(v.string(), v.regex(/account (is|was) suspended/i)) });

interface GitHubRequest extends Pick<UpstreamRequest, 'method' | 'signal'> {
  readonly query?: Readonly<Record<string, string>>;
}

export class GitHubApi {
  constructor(
    private readonly apiUrl: string,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {}

  async userByToken(accessToken: string, signal?: AbortSignal): Promise<GitHubLookup> {
    const response = await this.call(['user'], accessToken, { signal });
    if (response.status === 403) {
      await readJson(response, SUSPENDED);
      return 'suspended';
    }
    return userIn(response);
  }

  async userById(subject: string, token: string, signal?: AbortSignal): Promise<GitHubLookup> {
    return userIn(await this.call(['user', subject], token, { signal }));
  }

  /** @returns null where GitHub shows no organisation at the path, or sends to another one */
  async organization(
    path: readonly ['orgs', string] | readonly ['organizations', string],
    token: string,
    signal?: AbortSignal,
  ): Promise<GitHubOrganization | null> {
    const response = await this.call(path, token, { signal });
    if (response.status === 200) {
      return readJson(response, ORGANIZATION);
    }
    if (response.status === 404 || response.headers.has('location')) {
      return null;
    }
    throw new UpstreamError('unexpected_answer');
  }

  /** @param path segments, encoded here @returns no answer to a rate limit, which is thrown */
  async call(
    path: readonly string[],
    token: string,
    { query = {}, ...request }: GitHubRequest = {},
  ): Promise<Response> {
    const url = new URL(`${this.apiUrl}/${path.map(encodeURIComponent).join('/')}`);
    url.search = new URLSearchParams(query).toString();
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': 'gatehouse',
    };
    const response = await this.http.fetch(url, { ...request, headers });
    this.refuseRateLimit(response);
    return response;
  }

  /** GitHub answers 403 for both of its rate limits; the headers distinguish it from a plain refusal. */
  private refuseRateLimit(response: Response): void {
    const retryAfter = response.headers.get('retry-after');
    const isSpent = response.headers.get('x-ratelimit-remaining') === '0';
    if (response.status !== 403 || (retryAfter === null && !isSpent)) {
      return;
    }
    const now = this.clock.now();
    const resetMs = Number(response.headers.get('x-ratelimit-reset')) * 1000 - now;
    const pauseMs = retryAfter === null ? resetMs : (readRetryAfter(retryAfter, now) ?? NaN);
    const isSane = pauseMs >= 0 && pauseMs <= LONGEST_PAUSE_MS;
    throw new UpstreamError('rate_limited', { retryAfterMs: isSane ? pauseMs : undefined });
  }
}

async function userIn(response: Response): Promise<GitHubLookup> {
  switch (response.status) {
    case 200: {
      const { id, login, suspended_at: suspendedAt } = await readJson(response, USER);
      return suspendedAt ? 'suspended' : { subject: id, login };
    }
    case 401:
      return 'unknown_token';
    case 404:
      return 'absent';
    default:
      throw new UpstreamError('unexpected_answer');
  }
}
