import { Injectable } from '@nestjs/common';

/** Tells whoever re-checks identities that some became due before their time. */
@Injectable()
export class DueIdentities {
  private readonly listeners: (() => void)[] = [];

  onDue(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Call after the new time is stored. */
  announce(): void {
    for (const listen of this.listeners) {
      listen();
    }
  }
}
