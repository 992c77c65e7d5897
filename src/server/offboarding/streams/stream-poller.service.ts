import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { UpstreamError } from '../../providers/http/upstream-http.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { SetError } from '../../providers/signals/security-event-tokens.js';
import { StreamRefusedError, type PollRequest } from '../../providers/signals/stream-client.js';
import {
  SignalStreamRepository,
  type SignalStream,
} from '../../storage/repositories/signals/signal-stream.repository.js';
import { EventIntakeService } from '../signals/event-intake.service.js';
import { StreamLossService } from './stream-loss.service.js';

/** Shorter than the lease of the stream. */
const LONGEST_BATCH_MS = 15_000;

/** The outcome of a poll, which the next one reports to the transmitter. */
export interface PolledStream extends Pick<PollRequest, 'ack' | 'setErrs'> {
  /** True if there was no event. */
  readonly isIdle: boolean;
  /** True if the transmitter waited longer for events than this server waits for it. */
  readonly isSlow: boolean;
}

/** Polls a stream once. An event is acknowledged by the next poll, after its effect was stored. */
@Injectable()
export class StreamPollerService {
  private readonly logger = new Logger('ProviderSignals');

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly intake: EventIntakeService,
    private readonly streams: SignalStreamRepository,
    private readonly losses: StreamLossService,
    private readonly clock: Clock,
  ) {}

  /**
   * @param before the outcome of the poll before
   * @throws StreamRefusedError, UpstreamError; AppError `unavailable` when no event could be judged
   */
  async poll(
    stream: SignalStream,
    before: PolledStream,
    signal: AbortSignal,
  ): Promise<PolledStream> {
    const sets = await this.request(stream, before, signal);
    if (sets === null) {
      // The next poll does not wait, which shows if the transmitter answers at all.
      return { ...before, isIdle: false, isSlow: true };
    }
    await this.streams.noteSeen(stream);
    const polled = await this.acceptAll(stream.provider, Object.entries(sets));
    return { ...polled, isIdle: Object.keys(sets).length === 0, isSlow: false };
  }

  /**
   * An event that could not be judged or stored is neither acknowledged nor reported as wrong, and does not
   * hold up the others: the transmitter sends it again.
   * @throws when that is so for every event
   */
  private async acceptAll(
    provider: string,
    sets: readonly (readonly [string, string])[],
  ): Promise<Pick<PolledStream, 'ack' | 'setErrs'>> {
    const ack: string[] = [];
    const setErrs: Record<string, { err: string; description: string }> = {};
    const failures: Error[] = [];
    const began = this.clock.elapsed();
    for (const [id, token] of sets) {
      try {
        await this.intake.accept(provider, token);
        ack.push(id);
      } catch (error) {
        if (error instanceof SetError) {
          setErrs[id] = { err: error.failure, description: error.message };
        } else {
          failures.push(error instanceof Error ? error : new Error(String(error)));
        }
      }
      // Each event may wait for what does not answer, and the next poll has them all again.
      if (failures.length > 0 && this.clock.elapsed() - began > LONGEST_BATCH_MS) {
        break;
      }
    }
    const [failure] = failures;
    if (failure !== undefined) {
      const events = failures.length;
      this.logger.warn({ msg: 'security events left', provider, events, cause: failure.message });
    }
    if (failure !== undefined && ack.length === 0 && Object.keys(setErrs).length === 0) {
      throw failure;
    }
    return { ack, setErrs };
  }

  /** @returns null when the transmitter did not answer while it could wait for an event */
  private async request(
    stream: SignalStream,
    { ack, setErrs, isSlow }: PolledStream,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | null> {
    const { stream: client } = this.providers.signalTokens(stream.provider);
    if (client === null || stream.pollUrl === null) {
      return {};
    }
    const request = { ack, setErrs, returnImmediately: isSlow };
    try {
      return (await client.poll(stream.pollUrl, request, signal)).sets;
    } catch (error) {
      if (error instanceof UpstreamError && error.failure === 'timeout' && !isSlow) {
        return null;
      }
      if (error instanceof StreamRefusedError && error.reason === 'missing') {
        await this.losses.replace(stream);
        return {};
      }
      if (!signal.aborted) {
        await this.streams.noteFailure(stream, failureOf(error));
      }
      throw error;
    }
  }
}

/** Names a failure for operators. */
export function failureOf(error: unknown): string {
  if (error instanceof UpstreamError) {
    return error.failure;
  }
  return error instanceof StreamRefusedError ? error.reason : 'unexpected';
}
