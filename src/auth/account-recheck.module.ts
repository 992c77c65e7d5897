import { Module } from '@nestjs/common';
import { ProvidersModule } from '../providers/providers.module.js';
import { RecheckEffects } from './account-recheck-effects.js';
import { AccountRecheck } from './account-recheck.js';

/** Owns the re-check of one identity and what follows from it. Does not own when (offboarding). */
@Module({
  imports: [ProvidersModule],
  providers: [AccountRecheck, RecheckEffects],
  exports: [AccountRecheck],
})
export class AccountRecheckModule {}
