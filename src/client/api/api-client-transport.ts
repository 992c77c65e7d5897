import { parseJson } from '../../common/parse-json.js';
import { GatehouseProblem, readProblem, ServerUnreachable } from './problem.js';

/** What the calls need of `fetch`. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<FetchAnswer>;

export type FetchAnswer = Pick<Response, 'ok' | 'status' | 'type' | 'text'> & {
  readonly headers: Pick<Headers, 'get'>;
};

export interface TransportOptions {
  /** As `parseServerUrl` returns it. */
  readonly serverUrl: string;
  readonly token?: string | undefined;
  /** What logins send of this program, for the account's list of sessions. Default: nothing. */
  readonly client?: { readonly name?: string; readonly platform?: string } | undefined;
  /** For one whole exchange. */
  readonly timeoutMs?: number | undefined;
  /** Default: the global one. */
  readonly fetch?: Fetch | undefined;
}

/** The request, and the check of the answer. */
export interface Exchange<Answer> {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isAnswer: (value: unknown) => value is Answer;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const DEFAULT_TIMEOUT_MS = 15_000;

/** JSON over fetch, with every failure as a {@link GatehouseProblem} or {@link ServerUnreachable}. */
export class Transport {
  constructor(private readonly options: TransportOptions) {}

  async send<Answer>(
    method: HttpMethod,
    path: string,
    exchange: Exchange<Answer>,
  ): Promise<Answer> {
    const { response, text } = await this.exchange(method, path, exchange);
    const answer = parseJson(text) ?? null;
    if (response.ok && exchange.isAnswer(answer)) {
      return answer;
    }
    throw (
      (response.ok ? null : readProblem(answer, retryAfterOf(response))) ??
      this.unexpectedAnswer(response)
    );
  }

  private async exchange(
    method: HttpMethod,
    path: string,
    { body, headers }: Pick<Exchange<unknown>, 'body' | 'headers'>,
  ): Promise<{ response: FetchAnswer; text: string }> {
    const { serverUrl, token, timeoutMs = DEFAULT_TIMEOUT_MS, fetch: send = fetch } = this.options;
    // Not AbortSignal.timeout: React Native has none.
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    try {
      const response = await send(`${serverUrl}${path}`, {
        method,
        headers: {
          accept: 'application/json',
          ...headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // A redirect would turn a POST into a GET, or carry a token to another host.
        redirect: 'manual',
        signal: limit.signal,
      });
      return { response, text: await response.text() };
    } catch (error) {
      const reason = limit.signal.aborted
        ? `no answer within ${timeoutMs / 1000} seconds`
        : reasonOf(error);
      throw new ServerUnreachable(serverUrl, reason, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  private unexpectedAnswer(response: FetchAnswer): GatehouseProblem {
    const { serverUrl } = this.options;
    const { status } = response;
    const target = response.headers.get('location');
    const isRedirect = response.type === 'opaqueredirect' || (status >= 300 && status < 400);
    const message = isRedirect
      ? `${serverUrl} redirects${target === null ? '' : ` to ${target}`}: use the address it redirects to.`
      : `${serverUrl} answered ${status}, and not as a Gatehouse server does. Check the address.`;
    const retryAfterSeconds = retryAfterOf(response);
    return new GatehouseProblem({ status, code: 'unexpected-answer', message, retryAfterSeconds });
  }
}

function retryAfterOf(response: FetchAnswer): number | undefined {
  const header = response.headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name cannot be resolved right now',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  UND_ERR_SOCKET: 'the connection was reset',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
};

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return (
    REASONS[code] ?? (code === '' ? 'the connection failed' : `the connection failed (${code})`)
  );
}
