import { Module } from '@nestjs/common';
import { FeaturesController } from './features.controller.js';
import { FeaturesService } from './features.service.js';

/**
 * Owns discovery: the part of the policy that clients may know, as bytes made at start. Does no I/O
 * and decides nothing: the table is policy/admission.
 * Routes: GET /v1/features.
 */
@Module({ controllers: [FeaturesController], providers: [FeaturesService] })
export class FeaturesModule {}
