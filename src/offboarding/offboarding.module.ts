import { Module } from '@nestjs/common';
import { AccountRecheckModule } from '../auth/account-recheck.module.js';
import { OffboardingJob } from './offboarding.job.js';
import { OldestCheckGauge } from './oldest-check.gauge.js';

/**
 * Owns when linked identities are re-checked: the queue of each provider, its workers, its pauses.
 * Does not own what a check is or does (auth: account-recheck), nor the rules (policy).
 */
@Module({ imports: [AccountRecheckModule], providers: [OffboardingJob, OldestCheckGauge] })
export class OffboardingModule {}
