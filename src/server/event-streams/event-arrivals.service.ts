import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { IdentityEvents } from '../auth/identity.events.js';
import { DueWork } from './due-work.js';
import { logUnlessUnavailable } from '../../common/errors.js';
import { DrainEvents } from '../../common/runtime/drain.events.js';
import { Timers } from '../../common/runtime/timers.js';
import { SecurityEventRepository } from '../storage/repositories/oauth/security-event.repository.js';

/** Finds events of other replicas without messages between them. */
const LOOK_EVERY_MS = 2000;

/** A poll that waits for an event of its stream. */
export interface Arrival {
  /** Resolves when an event may have arrived, at the latest after `ms`. */
  within(ms: number): Promise<void>;
  end(): void;
}

interface Waiting {
  readonly streamId: string;
  readonly arrival: AbortController;
}

/** Wakes polls when an event arrives: one statement looks for all streams that wait. */
@Injectable()
export class EventArrivalsService implements OnModuleInit {
  private readonly logger = new Logger(EventArrivalsService.name);
  /** By stream and backend, so that the poll of another backend ends none. */
  private readonly waiting = new Map<string, Waiting>();
  private readonly looking = new DueWork(() =>
    logUnlessUnavailable(this.logger, () => this.lookOnce()),
  );

  constructor(
    private readonly log: SecurityEventRepository,
    private readonly identityEvents: IdentityEvents,
    private readonly timers: Timers,
    private readonly drain: DrainEvents,
  ) {}

  /** Every change of access is announced to all replicas once it is stored, and so is its event. */
  onModuleInit(): void {
    this.identityEvents.on('access-changed', () => this.look());
    this.identityEvents.on('access-changes-missed', () => this.look());
    this.drain.signal.addEventListener('abort', () =>
      this.waiting.forEach(({ arrival }) => arrival.abort()),
    );
  }

  /**
   * Expects an event of the stream from now on. An earlier poll of the same stream stops to wait, so
   * that one stream holds one request.
   */
  expect(resourceServer: string, streamId: string): Arrival {
    const arrival = new AbortController();
    const key = `${streamId} ${resourceServer}`;
    this.waiting.get(key)?.arrival.abort();
    this.waiting.set(key, { streamId, arrival });
    return {
      within: (ms) =>
        this.timers.sleep(this.drain.limit(ms), arrival.signal).catch(() => undefined),
      end: () => {
        if (this.waiting.get(key)?.arrival === arrival) {
          this.waiting.delete(key);
        }
      },
    };
  }

  /** Looks for events of the streams that wait. Changes during a look cause another one. */
  @Interval(LOOK_EVERY_MS)
  look(): void {
    void this.looking.run();
  }

  private async lookOnce(): Promise<void> {
    if (this.waiting.size === 0) {
      return;
    }
    const ids = [...this.waiting.values()].map(({ streamId }) => streamId);
    const arrived = new Set(await this.log.arrivedAt(ids));
    this.waiting.forEach(({ streamId, arrival }) => arrived.has(streamId) && arrival.abort());
  }
}
