import { Injectable } from '@nestjs/common';
import { Clock } from './clock.js';
import { Random } from './random.js';
import { Timers } from './timers.js';

/** Time and chance together, for classes that use more than one of them. */
@Injectable()
export class Runtime {
  constructor(
    readonly clock: Clock = new Clock(),
    readonly timers: Timers = new Timers(),
    readonly random: Random = new Random(),
  ) {}
}
