import type { FastifyInstance, FastifyReply } from 'fastify';

/** About 500 of the longest answers. */
const UNREAD_BYTES = 128 * 1024 * 1024;
/** Shorter answers are bounded by the number of requests. */
const COUNTED_CHARACTERS = 16 * 1024;

/**
 * Bounds the answers that the system has not taken for sending, on all connections. Clients that send requests and read
 * nothing could otherwise fill the memory. Beyond the bound the connection that waits longest is closed.
 */
export function boundUnreadAnswers(server: FastifyInstance): void {
  const unread = new Map<FastifyReply, number>();
  let total = 0;
  const remove = (reply: FastifyReply): void => {
    total -= unread.get(reply) ?? 0;
    unread.delete(reply);
  };
  server.addHook('onSend', (_request, reply, payload, done) => {
    // Files are streams, or bytes that all answers share.
    if (typeof payload === 'string' && payload.length >= COUNTED_CHARACTERS) {
      unread.set(reply, payload.length);
      total += payload.length;
      reply.raw.once('close', () => remove(reply));
      for (const oldest of unread.keys()) {
        if (total <= UNREAD_BYTES) {
          break;
        }
        remove(oldest);
        oldest.request.raw.socket.destroy();
      }
    }
    done();
  });
}
