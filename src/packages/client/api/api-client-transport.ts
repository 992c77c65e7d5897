import * as v from 'valibot';
import { onAbort } from '../abort.js';
import { parseJson } from '../../../common/parse-json.js';
import { readRetryAfter } from '../../../common/retry-after.js';
import { hideFromLogs } from '../hide-from-logs.js';
import { readAnswerText, type FetchAnswer } from './answer-text.js';
import { GatehouseProblem, readProblem, ServerUnreachable } from './problem.js';
import { requireServerUrl } from './server-url.js';

/** The part of `fetch` that the calls use. */
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

export interface TransportOptions {
  /** An address that `parseServerUrl` accepts. */
  readonly serverUrl: string;
  readonly token?: string | undefined;
  /**
   * This program in the account's list of sessions, and the longest lifetime of its own sessions.
   * Default: nothing, and the lifetime of the server.
   */
  readonly client?:
    | { readonly name?: string; readonly platform?: string; readonly sessionSeconds?: number }
    | undefined;
  /**
   * Signs a challenge of this client's own where the server has no `POST /v1/auth/challenge`, as servers
   * older than that route need. Such a login can be relayed and sent again: only for a server that the
   * person named as an older one. Default: false.
   */
  readonly allowClientChallenge?: boolean | undefined;
  /** For one whole exchange; Infinity: no limit. Default: 15 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Ends running exchanges when it aborts, as if the server were unreachable. */
  readonly signal?: AbortSignal | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
}

/** The content of a request. */
interface Sent {
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a form, without the token of the session. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const DEFAULT_TIMEOUT_MS = 15_000;
const FORM = 'application/x-www-form-urlencoded';

/** JSON over fetch, with every failure as a {@link GatehouseProblem} or {@link ServerUnreachable}. */
export class Transport {
  private readonly serverUrl: string;

  /** @throws TypeError for an address that is not one of a server, and a timeout that is no number */
  constructor(private readonly options: TransportOptions) {
    this.serverUrl = requireServerUrl(options.serverUrl);
    const { timeoutMs = 0 } = options;
    if (typeof timeoutMs !== 'number' || Number.isNaN(timeoutMs)) {
      throw new TypeError('"timeoutMs" must be a number.');
    }
    hideFromLogs(this, 'options');
  }

  /** @param schema of the answer; another one is refused with `unexpected-answer` */
  async send<Schema extends v.GenericSchema>(
    method: HttpMethod,
    path: string,
    schema: Schema,
    sent: Sent = {},
  ): Promise<v.InferOutput<Schema>> {
    const isAnswer = (value: unknown): value is v.InferOutput<Schema> => v.is(schema, value);
    const { response, text } = await this.exchange(method, path, sent);
    const answer = parseJson(text) ?? null;
    if (response.ok && isAnswer(answer)) {
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
    { body, form, headers }: Sent,
  ): Promise<{ response: FetchAnswer; text: string }> {
    const { serverUrl } = this;
    const { token, timeoutMs = DEFAULT_TIMEOUT_MS, signal, fetch: send = fetch } = this.options;
    if (token !== undefined && !form && !TOKEN.test(token)) {
      throw invalidToken();
    }
    const sentForm = form && new URLSearchParams(form).toString();
    const content = body === undefined ? sentForm : JSON.stringify(body);
    const limit = limitOf(timeoutMs, signal);
    try {
      const response = await send(`${serverUrl}${path}`, {
        method,
        headers: {
          accept: 'application/json',
          ...headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(form !== undefined && { 'content-type': FORM }),
          ...(token !== undefined && !form && { authorization: `Bearer ${token}` }),
        },
        ...(content !== undefined && { body: content }),
        // A redirect would turn a POST into a GET, or carry a token to another host.
        redirect: 'manual',
        signal: limit.signal,
      });
      return { response, text: await readAnswerText(response) };
    } catch (error) {
      if (error instanceof GatehouseProblem) {
        throw error;
      }
      throw new ServerUnreachable(serverUrl, limit.reason() ?? reasonOf(error), { cause: error });
    } finally {
      limit.clear();
    }
  }

  private unexpectedAnswer(response: FetchAnswer): GatehouseProblem {
    const { serverUrl } = this;
    const { status } = response;
    const target = response.headers.get('location');
    const isRedirect = response.type === 'opaqueredirect' || (status >= 300 && status < 400);
    const message = isRedirect
      ? `${serverUrl} redirects${target === null ? '' : ` to ${target}`}: use the address it redirects to.`
      : `${serverUrl} answered ${status}${meaningOf(status)}`;
    const retryAfterSeconds = retryAfterOf(response);
    return new GatehouseProblem({ status, code: 'unexpected-answer', message, retryAfterSeconds });
  }
}

/** A proxy answers with a page of its own for a server that is away, or under too many requests. */
function meaningOf(status: number): string {
  if (status === 429) {
    return ': a proxy in front of the server limits the rate of requests.';
  }
  return status >= 500
    ? ': the server, or a proxy in front of it, is unavailable for now.'
    : ', and not as a Gatehouse server does. Check the address.';
}

/** `fetch` throws for other characters, in an error that contains the token. */
const TOKEN = /^[\t -~]*[\r\n]*$/;

function invalidToken(): GatehouseProblem {
  const message = 'The token is not valid. Sign in again.';
  return new GatehouseProblem({ status: 401, code: 'invalid-token', message });
}

/** Longer timers fire at once: 24 days. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Aborts after `timeoutMs`, or with `outer`. Not AbortSignal.timeout: React Native has none. */
function limitOf(timeoutMs: number, outer: AbortSignal | undefined) {
  const limit = new AbortController();
  const abort = (): void => limit.abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, MAX_TIMER_MS));
  const release = outer && onAbort(outer, abort);
  if (outer?.aborted === true) {
    abort();
  }
  return {
    signal: limit.signal,
    reason: (): string | null => {
      const late = limit.signal.aborted ? `no answer within ${timeoutMs / 1000} seconds` : null;
      return outer?.aborted === true ? 'the call was ended' : late;
    },
    clear: (): void => {
      clearTimeout(timer);
      release?.();
    },
  };
}

function retryAfterOf(response: FetchAnswer): number | undefined {
  const ms = readRetryAfter(response.headers.get('retry-after'), Date.now());
  return ms === undefined ? undefined : Math.ceil(ms / 1000);
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
  const named = cause instanceof Error && 'code' in cause ? cause.code : null;
  const code = typeof named === 'string' ? named : '';
  return (
    REASONS[code] ?? (code === '' ? 'the connection failed' : `the connection failed (${code})`)
  );
}
