import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors.js';
import { readOnWhileClosing } from '../network/ended-connections.js';

interface Arriving {
  readonly reply: FastifyReply;
  readonly bytes: number;
}

/** A client that was not slow on purpose has its body through by then. */
const RETRY_SECONDS = 1;

/**
 * Bounds the bodies that arrive at the same time, by the lengths that their requests declare. Clients that never send
 * the rest could otherwise fill the memory. Beyond the bound the oldest is refused: an honest one takes
 * milliseconds.
 */
export class ArrivingBodies {
  private readonly arriving = new Map<FastifyRequest, Arriving>();
  private total = 0;

  /** @param mostBytes of all bodies that arrive, if they are more than one */
  constructor(private readonly mostBytes: number) {}

  /**
   * Call it before a body is read. A body that is refused later is answered `unavailable`.
   * @param limitBytes of the route; longer ones are refused by the framework
   */
  add(request: FastifyRequest, reply: FastifyReply, limitBytes: number): void {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const bytes = encoding === undefined ? Math.min(Number(length ?? 0), limitBytes) : limitBytes;
    if (bytes === 0) {
      return;
    }
    this.arriving.set(request, { reply, bytes });
    this.total += bytes;
    request.raw.once('end', () => this.remove(request));
    reply.raw.once('close', () => this.remove(request));
    for (const [oldest, { reply: answer }] of this.arriving) {
      if (this.total <= this.mostBytes || oldest === request) {
        return;
      }
      this.remove(oldest);
      refuse(oldest, answer);
    }
  }

  private remove(request: FastifyRequest): void {
    this.total -= this.arriving.get(request)?.bytes ?? 0;
    this.arriving.delete(request);
  }
}

function refuse({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (reply.sent || raw.listenerCount('error') === 0) {
    // Fastify does not read it.
    raw.destroy();
    return;
  }
  void reply.header('connection', 'close');
  readOnWhileClosing(raw.socket);
  // The framework stops reading, and answers with the error.
  raw.emit('error', new AppError('unavailable', { retryAfterSeconds: RETRY_SECONDS }));
}
