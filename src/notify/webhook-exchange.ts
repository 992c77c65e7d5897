import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { WebhookAnswer } from './webhook-answer.js';

export interface WebhookPost {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

export interface ExchangeLimits {
  /** For the whole exchange, connecting included. */
  readonly timeoutMs: number;
  /** Of the answer's body, which is read so that the connection can be used again. */
  readonly maxAnswerBytes: number;
}

/** Nothing came in time. */
export class ExchangeTimeout extends Error {
  override readonly name = 'ExchangeTimeout';
  readonly code = 'ETIMEDOUT';
}

/**
 * One POST, followed nowhere; resolves with the head of the answer as soon as it is there. Talks to
 * the dispatcher itself, because a stream and a signal for each try would cost more than the rest.
 *
 * @throws ExchangeTimeout, and whatever the dispatcher fails with
 */
export function exchange(
  dispatcher: Dispatcher,
  { url, headers, body }: WebhookPost,
  limits: ExchangeLimits,
): Promise<WebhookAnswer> {
  return new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(url);
    const handler = new HeadHandler(resolve, reject, limits);
    const path = `${pathname}${search}`;
    dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, handler);
  });
}

class HeadHandler implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | null = null;
  private bytesLeft: number;
  private isLate = false;

  constructor(
    private readonly resolve: (answer: WebhookAnswer) => void,
    private readonly reject: (reason: Error) => void,
    { timeoutMs, maxAnswerBytes }: ExchangeLimits,
  ) {
    this.bytesLeft = maxAnswerBytes;
    this.timer = setTimeout(() => this.expire(), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.isLate) {
      controller.abort(new ExchangeTimeout());
    }
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) {
      this.resolve({ status, headers });
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, { length }: Buffer): void {
    this.bytesLeft -= length;
    if (this.bytesLeft < 0) {
      controller.abort(new Error('The answer is longer than anybody wants to read.'));
    }
  }

  onResponseEnd(): void {
    clearTimeout(this.timer);
  }

  onResponseError(_controller: unknown, error: Error): void {
    clearTimeout(this.timer);
    this.reject(error);
  }

  /** Before a connection is there nothing can be aborted: the request is, once its turn comes. */
  private expire(): void {
    this.isLate = true;
    this.reject(new ExchangeTimeout());
    this.controller?.abort(new ExchangeTimeout());
  }
}
