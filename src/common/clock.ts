import { Global, Injectable, Module } from '@nestjs/common';

/** The wall clock, injected wherever a decision needs the time. */
@Injectable()
export class Clock {
  /** Unix milliseconds. */
  now(): number {
    return Date.now();
  }
}

/** Owns the clock, for every module. No routes. */
@Global()
@Module({ providers: [Clock], exports: [Clock] })
export class ClockModule {}
