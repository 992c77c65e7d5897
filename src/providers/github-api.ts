import type { Clock } from '../common/clock.js';
import { UpstreamError } from './upstream-error.js';
import type { UpstreamHttp, UpstreamRequest } from './upstream-http.js';

const LONGEST_PAUSE_MS = 60 * 60 * 1000;

/** The REST API of github.com or an Enterprise Server. */
export class GitHubApi {
  constructor(
    private readonly apiUrl: string,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {}

  /**
   * The answer to an authenticated call, whatever it says, but never one about a rate limit.
   * @param path segments, encoded here. @throws UpstreamError
   */
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

  /** GitHub says 403 for both of its rate limits, so the headers tell it from a plain refusal. */
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
