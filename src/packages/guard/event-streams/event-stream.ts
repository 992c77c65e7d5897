import { LogOnce } from '../../../common/log-once.js';
import type { GuardRuntime, GuardSettings } from '../guard-options.js';
import { textIn, type IssuerClient } from '../issuer/issuer-client.js';
import { IssuerFault, requireSameTime, type IssuerAnswer } from '../issuer/issuer-http.js';
import { momentOf, type Moment } from '../../../common/runtime/moment.js';
import { KeySet } from '../tokens/key-set.js';
import { EVENTS_REQUESTED, readEventToken, type SessionEvent } from './event-token.js';

const POLL = 'urn:ietf:rfc:8936';
const MAX_EVENTS = 500;
/** A transmitter of Gatehouse waits for 10 s at most. */
const WAITING_LIMIT_MS = 15_000;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 2000;
/** The status of a stream that does not exist any more. */
const GONE: readonly (number | null)[] = [404, 410];

/** Effects of a stream. */
export interface EventHandlers {
  onSessionEnded(sid: string): void;
  /** The answer to the request of this moment had no more signals. */
  onComplete(sentAt: Moment): void;
  /** Signals were lost: the stream does not exist any more. */
  onGap(): void;
  /** True while the lease is valid. A poll asks for an immediate answer otherwise. */
  mayWait(): boolean;
}

interface Stream {
  readonly url: string;
  readonly configurationUrl: string;
  readonly audience: string | readonly string[];
  readonly keys: KeySet;
  /** Signals that were applied, but not yet acknowledged. */
  unacknowledged: readonly string[];
}

/** Receives signals of ended sessions: a stream of its own (SSF 1.0), polled (RFC 8936). */
export class EventStream {
  private readonly faults: LogOnce;
  private stream: Stream | null = null;
  private isClosed = false;
  /** Ends the poll that waits for signals. */
  private waiting: AbortController | null = null;
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly settings: GuardSettings,
    private readonly runtime: GuardRuntime,
    private readonly issuer: IssuerClient,
    private readonly handlers: EventHandlers,
  ) {
    this.faults = new LogOnce((reason) =>
      settings.log({ level: 'warn', message: 'signals cannot be received', reason }),
    );
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Asks for an immediate answer instead of waiting for signals: the lease has ended. */
  hurry(): void {
    this.waiting?.abort();
  }

  /** Ends the polling, and deletes the stream. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stopping.abort();
    await this.running;
    await this.delete();
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.isClosed) {
      try {
        // A request that came after the last poll ends no wait of its own.
        this.waiting = null;
        this.stream ??= await this.create();
        const stream = this.stream;
        await this.poll(stream, failures === 0 && this.handlers.mayWait());
        this.faults.clear();
        failures = 0;
      } catch (error) {
        if (!this.isClosed && this.waiting?.signal.aborted !== true) {
          this.report(error);
          await this.wait(error, failures);
          failures += 1;
        }
      }
    }
  }

  private report(error: unknown): void {
    const isFault = error instanceof IssuerFault;
    this.faults.write(isFault ? error.message : `a signal is not valid: ${messageOf(error)}`);
  }

  /** Signals were lost: the next attempt makes a new stream. */
  private loseStream(reason: string): IssuerFault {
    this.stream = null;
    this.handlers.onGap();
    return new IssuerFault(reason);
  }

  private async wait(error: unknown, failures: number): Promise<void> {
    const retryAfterMs = error instanceof IssuerFault ? error.retryAfterMs : 0;
    const backoffMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS);
    const spread = 0.5 + this.runtime.random.fraction() / 2;
    const delayMs = Math.max(retryAfterMs, backoffMs * spread);
    await this.runtime.timers.sleep(delayMs, this.stopping.signal).catch(() => undefined);
  }

  private async create(): Promise<Stream> {
    const { configurationEndpoint, keySetUrl } = await this.issuer.transmitterMetadata();
    const { body } = await this.issuer.sendAuthorized(configurationEndpoint, {
      method: 'POST',
      json: { delivery: { method: POLL }, events_requested: EVENTS_REQUESTED },
    });
    const id = textIn(body, 'stream_id');
    const delivery = (body['delivery'] ?? {}) as Readonly<Record<string, unknown>>;
    if (body['iss'] !== this.settings.issuer || delivery['method'] !== POLL) {
      throw new IssuerFault('the stream is of another issuer or another delivery method');
    }
    const { aud } = body;
    const configurationUrl = new URL(configurationEndpoint);
    configurationUrl.searchParams.set('stream_id', id);
    return {
      url: textIn(delivery, 'endpoint_url'),
      configurationUrl: configurationUrl.href,
      audience: Array.isArray(aud) ? (aud as string[]) : textIn(body, 'aud'),
      keys: new KeySet(() => this.issuer.keySet(keySetUrl), this.runtime),
      unacknowledged: [],
    };
  }

  /** @param mayWait false asks for an immediate answer, because the lease has to be renewed */
  private async poll(stream: Stream, mayWait: boolean): Promise<void> {
    const sentAt = momentOf(this.runtime.clock);
    const answer = await this.request(stream, mayWait);
    requireSameTime(answer, sentAt, this.runtime.clock);
    const read = await this.readEvents(answer, stream);
    const events = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    for (const { event } of events) {
      if (event.type === 'session-revoked') {
        this.handlers.onSessionEnded(event.sid);
      }
    }
    stream.unacknowledged = events.map(({ jti }) => jti);
    if (events.some(({ event }) => event.type === 'stream-stopped')) {
      throw this.loseStream('the transmitter stopped the stream');
    }
    const failed = read.find((one) => one.status === 'rejected');
    if (failed !== undefined) {
      throw failed.reason as Error;
    }
    // RFC 8936, 2.3: it may be absent. The guard must not take another value for the end.
    if ((answer.body['moreAvailable'] ?? false) === false) {
      this.handlers.onComplete(sentAt);
    }
  }

  private async request(stream: Stream, mayWait: boolean): Promise<IssuerAnswer> {
    const { url, unacknowledged: ack } = stream;
    this.waiting = mayWait ? new AbortController() : null;
    try {
      return await this.issuer.sendAuthorized(url, {
        method: 'POST',
        json: { maxEvents: MAX_EVENTS, returnImmediately: !mayWait, ack },
        ...(this.waiting && { limitMs: WAITING_LIMIT_MS, signal: this.waiting.signal }),
      });
    } catch (error) {
      const isGone = error instanceof IssuerFault && GONE.includes(error.status);
      throw isGone ? this.loseStream('the stream does not exist any more') : error;
    }
  }

  /**
   * An event that does not verify fails the poll, and is delivered again: the guard must not go on
   * without it. The others have their effect.
   */
  private readEvents(
    { body }: IssuerAnswer,
    { keys, audience }: Stream,
  ): Promise<PromiseSettledResult<{ readonly jti: string; readonly event: SessionEvent }>[]> {
    const { issuer } = this.settings;
    const now = this.runtime.clock.now();
    const { sets } = body;
    if (typeof sets !== 'object' || sets === null) {
      throw new IssuerFault('the answer to a poll has no "sets"');
    }
    return Promise.allSettled(
      Object.entries(sets as Readonly<Record<string, unknown>>).map(async ([jti, token]) => {
        const expected = { issuer, audience, jti, now };
        return { jti, event: await readEventToken(String(token), keys, expected) };
      }),
    );
  }

  /** Frees the place of this stream; one that is not deleted ends by itself. */
  private async delete(): Promise<void> {
    const { stream } = this;
    this.stream = null;
    if (stream !== null) {
      const request = { method: 'DELETE', limitMs: 2000, isLast: true } as const;
      await this.issuer.sendAuthorized(stream.configurationUrl, request).catch(() => undefined);
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
