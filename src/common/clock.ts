import { Injectable } from '@nestjs/common';

/** The wall clock, injected wherever a decision needs the time. */
@Injectable()
export class Clock {
  /** Unix milliseconds. */
  now(): number {
    return Date.now();
  }
}
