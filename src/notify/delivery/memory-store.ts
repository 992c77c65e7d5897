import type { Delivery } from './delivery.js';
import type { DeliveryStore, Lane } from './engine.js';

export interface MemoryEntry {
  readonly attempts: number;
  readonly delivery: Delivery;
}

interface Waiting {
  readonly entry: MemoryEntry;
  readonly expiresAt: number;
  readonly dueAt: number;
}

/**
 * Deliveries to one target for as long as this process runs. They go in one batch; those that may
 * still arrive go again together, when the last of them is due.
 */
export class MemoryStore implements DeliveryStore<Waiting, Waiting> {
  readonly pushBatchSize = Infinity;
  private waiting: Waiting[] = [];

  /** Claims deliveries for their first try. */
  add(deliveries: readonly Delivery[]): readonly Waiting[] {
    return deliveries.map((delivery) => waitingFor({ attempts: 0, delivery }, 0));
  }

  tidy(): Promise<void> {
    return DONE;
  }

  dueLanes(): Promise<readonly Lane<Waiting>[]> {
    const items = this.waiting;
    this.waiting = [];
    const kind = items[0]?.entry.delivery.kind ?? 'push';
    return Promise.resolve([{ kind, items }]);
  }

  claimDelivery(item: Waiting): Promise<Waiting> {
    return Promise.resolve(item);
  }

  end(): Promise<void> {
    return DONE;
  }

  putBack({ entry }: Waiting, dueAt: number): Promise<void> {
    const attempts = entry.attempts + 1;
    this.waiting.push(waitingFor({ ...entry, attempts }, dueAt));
    return DONE;
  }

  /** A caller of the library asks for receipts by itself. */
  expectReceipt(): Promise<void> {
    return DONE;
  }

  nextRoundAt(): Promise<number | null> {
    const times = this.waiting.map(({ dueAt }) => dueAt);
    return Promise.resolve(times.length === 0 ? null : Math.max(...times));
  }
}

const DONE = Promise.resolve();

function waitingFor(entry: MemoryEntry, dueAt: number): Waiting {
  return { entry, dueAt, expiresAt: entry.delivery.expiresAt };
}
