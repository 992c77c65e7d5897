import { pause } from '../abort.js';
import { GatehouseProblem, isTemporary } from '../api/problem.js';
import type { AccountRequests, SealedRequest } from './account-requests.js';
import {
  judgeAnswers,
  type Decision,
  type ListedAnswer,
  type RefusedAnswer,
} from './judge-answers.js';

/** The state of a request on its server. */
export interface RequestState {
  readonly state: 'open' | 'answered' | 'withdrawn' | 'expired';
  readonly answers: readonly ListedAnswer[];
}

/** The calls of the asking program; {@link RequestRoutes} sends them. */
export interface AskingServer {
  create(asked: SealedRequest): Promise<void>;
  /** Resolves with the answers, or after `waitSeconds`. */
  wait(id: string, waitSeconds: number): Promise<RequestState>;
  /** Makes room for another answer. */
  reject(id: string, session: string): Promise<void>;
  /** @param takenFrom the session whose answer counts; null withdraws the request */
  close(id: string, takenFrom: string | null): Promise<RequestState>;
}

/** The record of the asking program, which survives its end. */
export interface AskStore {
  /** Stores the request before it is sent. */
  save(asked: SealedRequest): Promise<void>;
  /**
   * Records the end of a request, durably. Resolves to false where another process recorded one
   * before: then the answer does not count.
   *
   * @param takenFrom the session whose answer counts; null where none does
   */
  end(
    requestId: string,
    how: 'used' | 'withdrawn' | 'expired',
    takenFrom: string | null,
  ): Promise<boolean>;
}

export interface AskOptions {
  readonly store: AskStore;
  /** Ends the wait and withdraws the request. */
  readonly signal?: AbortSignal | undefined;
  /** Reports an answer that does not count; the wait goes on. */
  readonly onRefused?: (refused: RefusedAnswer) => void;
  /** Called once the server has the request. */
  readonly onAsked?: () => void;
  /** Called once for each outage. */
  readonly onUnreachable?: (error: Error) => void;
  /** Unix milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** Milliseconds of a clock that cannot be set. Default: `performance.now`. */
  readonly monotonic?: () => number;
  /** Resolves after a pause, or at once when `signal` aborts. */
  readonly pause?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export type AskOutcome = (
  | { readonly kind: 'answered'; readonly decision: Decision }
  /** No answer in time. */
  | { readonly kind: 'expired' }
  /** The request was answered at the computer, or its account changed. */
  | { readonly kind: 'withdrawn' }
) & {
  /** False where the server does not know the end: {@link closeRequest} reports it later. */
  readonly isClosed: boolean;
};

/** Limit of `GET /v1/requests/:id`. */
const MAX_WAIT_SECONDS = 50;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Sends a request, and waits until an answer counts or the request ends. The server is not believed:
 * only an answer that opens, verifies and is in time counts, once.
 *
 * Rejects with GatehouseProblem where the server refuses the request.
 *
 * @param requests null on an account without a key: then only a denial counts
 */
export function askAndWait(
  server: AskingServer,
  requests: AccountRequests | null,
  asked: SealedRequest,
  options: AskOptions,
): Promise<AskOutcome> {
  return new Asking(server, requests, asked, options).run();
}

class Asking {
  private readonly now: () => number;
  private readonly monotonic: () => number;
  private readonly startedAt: number;
  private readonly refused = new Set<string>();
  private pauseMs = FIRST_PAUSE_MS;
  private isOut = false;

  constructor(
    private readonly server: AskingServer,
    private readonly requests: AccountRequests | null,
    private readonly asked: SealedRequest,
    private readonly options: AskOptions,
  ) {
    this.now = options.now ?? (() => Date.now());
    this.monotonic = options.monotonic ?? (() => performance.now());
    this.startedAt = this.monotonic();
  }

  async run(): Promise<AskOutcome> {
    await this.options.store.save(this.asked);
    const created = await this.trying(() => this.server.create(this.asked));
    if (created !== null) {
      this.options.onAsked?.();
    }
    while (this.leftMs > 0 && !this.isAborted) {
      const startedMs = this.elapsedMs;
      const found = await this.trying(() => this.server.wait(this.id, this.waitSeconds));
      const outcome = found === null ? null : await this.judge(found);
      if (outcome !== null) {
        return outcome;
      }
      if (this.elapsedMs - startedMs < FIRST_PAUSE_MS) {
        // A server that answers at once, with nothing that counts, is asked at a slower rate.
        await this.pause();
      }
    }
    const kind = this.isAborted ? 'withdrawn' : 'expired';
    await this.options.store.end(this.id, kind, null);
    return { kind, isClosed: await closeRequest(this.server, this.id, null) };
  }

  private get id(): string {
    return this.asked.request.requestId;
  }

  private get isAborted(): boolean {
    return this.options.signal?.aborted === true;
  }

  /** Time until the earlier of the two clocks reaches the expiry. */
  private get leftMs(): number {
    const { askedAt, expiresAt } = this.asked.request;
    return Math.min(expiresAt - this.now(), expiresAt - askedAt - this.elapsedMs);
  }

  private get elapsedMs(): number {
    return this.monotonic() - this.startedAt;
  }

  private get waitSeconds(): number {
    return Math.max(1, Math.min(MAX_WAIT_SECONDS, Math.ceil(this.leftMs / 1000)));
  }

  /** Judges a withdrawal and the answers of one reading together. */
  private async judge({ state, answers }: RequestState): Promise<AskOutcome | null> {
    if (state !== 'open') {
      const kind = state === 'expired' ? 'expired' : 'withdrawn';
      await this.options.store.end(this.id, kind, null);
      return { kind, isClosed: true };
    }
    const time = { now: this.now(), elapsedMs: this.elapsedMs };
    const { decision, refused } = await judgeAnswers(this.requests, this.asked, answers, time);
    await this.reject(refused);
    return decision === null || this.isAborted ? null : this.take(decision);
  }

  /** Records on the disk that the request is used, before anything acts on the answer. */
  private async take(decision: Decision): Promise<AskOutcome> {
    const { session } = decision;
    if (!(await this.options.store.end(this.id, 'used', session))) {
      return { kind: 'withdrawn', isClosed: false };
    }
    const isClosed = await closeRequest(this.server, this.id, session);
    return { kind: 'answered', decision, isClosed };
  }

  private async reject(refused: readonly RefusedAnswer[]): Promise<void> {
    for (const one of refused) {
      const key = `${one.session} ${one.reason}`;
      if (!this.refused.has(key)) {
        this.refused.add(key);
        this.options.onRefused?.(one);
      }
      if (one.session !== null) {
        await this.server.reject(this.id, one.session).catch(() => undefined);
      }
    }
  }

  /** Repeats a call while the server is unreachable; null at the end of the time, or after an abort. */
  private async trying<Result>(call: () => Promise<Result>): Promise<Result | null> {
    while (this.leftMs > 0 && !this.isAborted) {
      try {
        const result = await call();
        this.pauseMs = FIRST_PAUSE_MS;
        this.isOut = false;
        return result;
      } catch (error) {
        if (!isTemporary(error)) {
          throw error;
        }
        if (!this.isOut && !this.isAborted) {
          this.isOut = true;
          this.options.onUnreachable?.(error);
        }
        await this.pause(error instanceof GatehouseProblem ? error.retryAfterSeconds : undefined);
      }
    }
    return null;
  }

  private async pause(seconds?: number): Promise<void> {
    const ms = Math.max(this.pauseMs * (1 + Math.random()), (seconds ?? 0) * 1000);
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
    const { pause: wait = pause, signal } = this.options;
    await wait(Math.max(0, Math.min(ms, this.leftMs)), signal);
  }
}

/**
 * Reports the end of a request to its server.
 *
 * @param takenFrom the session whose answer counts; null withdraws
 * @returns false where the server cannot be reached now
 */
export async function closeRequest(
  server: Pick<AskingServer, 'close'>,
  id: string,
  takenFrom: string | null,
): Promise<boolean> {
  try {
    await server.close(id, takenFrom);
    return true;
  } catch (error) {
    return !isTemporary(error);
  }
}
