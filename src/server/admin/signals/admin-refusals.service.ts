import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { orRefuse } from '../../../common/errors.js';
import { Clock } from '../../../common/runtime/clock.js';
import { providersConfig, type ConfiguredProviders } from '../../config/providers.config.js';
import type { ActOrigin } from '../../storage/repositories/account-admin.repository.js';
import { PersonRefusalRepository } from '../../storage/repositories/directory/person-refusal.repository.js';
import type { ActAnswerDto } from '../accounts/admin-accounts.dto.js';

/** Ends refusals of people without an account; those of accounts end when the account is enabled. */
@Injectable()
export class AdminRefusalsService {
  constructor(
    private readonly refusals: PersonRefusalRepository,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    @Inject(providersConfig.KEY) private readonly configured: ConfiguredProviders,
  ) {}

  /** @throws AppError `not-found` for an unknown provider */
  async end(id: string, name: string, origin: ActOrigin): Promise<ActAnswerDto> {
    const provider = orRefuse(
      this.configured.find((one) => one.id === id),
      'not-found',
    );
    const match = provider.type === 'oidc' ? (provider.scim?.match ?? null) : null;
    const now = new Date(this.clock.now());
    const events = await this.refusals.end({ provider: id, match, name }, origin, now);
    events.forEach((event) => this.audit.log(event));
    return { success: true, changed: events.length > 0 };
  }
}
