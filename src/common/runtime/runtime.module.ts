import { Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { DrainEvents } from './drain.events.js';
import { Random } from './random.js';
import { Runtime } from './runtime.js';
import { Timers } from './timers.js';

/** Owns time, chance and the end of the process. Global: they stand in for globals of the language. Routes: none. */
@Global()
@Module({
  providers: [Clock, DrainEvents, Timers, Random, Runtime],
  exports: [Clock, DrainEvents, Timers, Random, Runtime],
})
export class RuntimeModule {}
