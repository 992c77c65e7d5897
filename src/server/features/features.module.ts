import { Module } from '@nestjs/common';

import { AuthModule } from '../auth/auth.module.js';
import { FeaturesController } from './features.controller.js';
import { FeaturesService } from './features.service.js';

/** Owns discovery. Decides nothing: the table is policy/admission. Routes: GET /v1/features. */
@Module({ imports: [AuthModule], controllers: [FeaturesController], providers: [FeaturesService] })
export class FeaturesModule {}
