import { Injectable } from '@nestjs/common';
import { SetError, type ReceivedSet } from '../../providers/signals/security-event-tokens.js';
import {
  SignalStreamRepository,
  type SignalStream,
  type StreamNews,
  type StreamStatus,
} from '../../storage/repositories/signals/signal-stream.repository.js';

const STATUSES: readonly unknown[] = ['enabled', 'paused', 'disabled'] satisfies StreamStatus[];
const LONGEST_REASON = 1024;

/** Knows the stream of a provider, and reads the events that are about it (SSF 1.0, 8.1.4, 8.1.5). */
@Injectable()
export class StreamEventsService {
  constructor(private readonly streams: SignalStreamRepository) {}

  /** @returns null for a stream that was made at the transmitter alone */
  find(key: Pick<SignalStream, 'provider' | 'transmitter'>): Promise<SignalStream | null> {
    return this.streams.find(key);
  }

  /**
   * Reads an event about the stream.
   *
   * @returns null for another event
   * @throws SetError for an event about another stream, or with another state than was asked for
   */
  read(stream: SignalStream, kind: string, event: ReceivedSet): StreamNews | null {
    if (kind !== 'verification' && kind !== 'stream-updated') {
      return null;
    }
    const { format, id } = (event.subject ?? {}) as Readonly<Record<string, unknown>>;
    if (format !== 'opaque' || id !== stream.streamId) {
      throw new SetError('invalid_request', 'The event is about another stream.');
    }
    const { state, status, reason } = event.content;
    if (kind === 'verification') {
      // A transmitter may send one without a request, which has no state.
      if (state !== undefined && state !== stream.verificationState) {
        throw new SetError('invalid_state', 'The state is not the one of the request.');
      }
      return { stream, status: null, reason: null };
    }
    if (!STATUSES.includes(status)) {
      throw new SetError('invalid_request', 'The status of the stream is unknown.');
    }
    const text = typeof reason === 'string' ? reason.slice(0, LONGEST_REASON) : null;
    return { stream, status: status as StreamStatus, reason: text?.replaceAll('\0', '') ?? null };
  }
}
