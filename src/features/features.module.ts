import { Module } from '@nestjs/common';
import { FeaturesService } from './features.service.js';

/**
 * Owns discovery: what clients may know of the policy, as bytes made at start. Does no I/O and
 * decides nothing: the table is policy/auth-methods.
 * Routes: GET /v1/features, ahead of every hook (discovery.route.ts).
 */
@Module({ providers: [FeaturesService] })
export class FeaturesModule {}
