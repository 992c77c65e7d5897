import { constants, gunzipSync, inflateSync } from 'node:zlib';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ExchangeTimeout } from '../webhook/guarded-post.js';

/**
 * Passes on complete and decoded answers only: undici's time-outs start again with each byte, and its
 * limit counts compressed bytes.
 *
 * @param maxBytes of the decoded body
 */
export function limitAnswers(
  timeoutMs: number,
  maxBytes: number,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, new LimitedAnswer(handler, timeoutMs, maxBytes));
}

type Controller = Dispatcher.DispatchController;

interface AnswerHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly statusMessage: string | undefined;
}

class LimitedAnswer implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private readonly chunks: Buffer[] = [];
  private controller: Controller | null = null;
  private head: AnswerHead = { status: 0, headers: {}, statusMessage: undefined };
  private isLate = false;

  constructor(
    private readonly handler: Dispatcher.DispatchHandler,
    timeoutMs: number,
    private readonly maxBytes: number,
  ) {
    this.timer = setTimeout(() => this.expire(), timeoutMs);
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.controller = controller;
    this.handler.onRequestStart?.(controller, context);
    if (this.isLate) {
      controller.abort(new ExchangeTimeout());
    }
  }

  onResponseStart(
    _controller: Controller,
    status: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    if (status >= 200) {
      this.head = { status, headers, statusMessage };
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  onResponseEnd(controller: Controller, trailers: IncomingHttpHeaders): void {
    clearTimeout(this.timer);
    const { status, headers, statusMessage } = this.head;
    const { 'content-encoding': encoding, ...others } = headers;
    let body: Buffer;
    try {
      body = decode(Buffer.concat(this.chunks), encoding ?? '', this.maxBytes);
    } catch (error) {
      this.handler.onResponseError?.(controller, error as Error);
      return;
    }
    this.handler.onResponseStart?.(controller, status, others, statusMessage);
    this.handler.onResponseData?.(controller, body);
    this.handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Controller, error: Error): void {
    clearTimeout(this.timer);
    this.handler.onResponseError?.(controller, error);
  }

  /** Without a connection the request is aborted when its turn comes. */
  private expire(): void {
    this.isLate = true;
    this.controller?.abort(new ExchangeTimeout());
  }
}

/** @throws Error for a body of more than `maxOutputLength` bytes, a damaged one and another encoding */
function decode(body: Buffer, encoding: string, maxOutputLength: number): Buffer {
  const options = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return body;
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(body, options);
    case 'deflate':
      return inflateSync(body, options);
    default:
      throw new Error('The answer has an encoding that was not asked for.');
  }
}
