import { Injectable } from '@nestjs/common';

/** Calls that wait for news are answered when the drain begins, so that none outlasts the grace period. */
@Injectable()
export class DrainEvents {
  private readonly controller = new AbortController();

  /** Aborts once, when the drain begins. */
  readonly signal = this.controller.signal;

  begin(): void {
    this.controller.abort();
  }
}
