import { Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';

/** Owns what every room may need and no rule hangs on: the clock. */
@Global()
@Module({ providers: [Clock], exports: [Clock] })
export class CommonModule {}
