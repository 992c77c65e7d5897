import { Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { Random } from './random.js';
import { Runtime } from './runtime.js';
import { Timers } from './timers.js';

/** Owns time and chance. Global: they stand in for globals of the language. Routes: none. */
@Global()
@Module({
  providers: [Clock, Timers, Random, Runtime],
  exports: [Clock, Timers, Random, Runtime],
})
export class RuntimeModule {}
