import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { orRefuse } from '../../../common/errors.js';
import { describeGrant } from '../../../core/policy/programs/describe-grant.js';
import { IdentityChangesService } from '../../identities/identity-changes.service.js';
import { resourceServersConfig } from '../../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../../config/resource-servers/resource-servers-file.js';
import { ProgramGrantRepository } from '../../storage/repositories/programs/program-grant.repository.js';
import type { ActOrigin } from '../../storage/repositories/account-admin.repository.js';
import type { ActAnswerDto } from './admin-accounts.dto.js';
import type { AdministeredProgramListDto } from './admin-programs.dto.js';

/** Programs of an account: an end is stored first, then announced to every replica. */
@Injectable()
export class AdminProgramsService {
  constructor(
    private readonly grants: ProgramGrantRepository,
    private readonly changes: IdentityChangesService,
    private readonly clock: Clock,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
  ) {}

  /** Returns the grants whose code was used, newest first. */
  async list(accountId: string): Promise<AdministeredProgramListDto> {
    const grants = await this.grants.list(accountId, new Date(this.clock.now()));
    return { programs: grants.map((grant) => describeGrant(grant, this.servers)) };
  }

  /** @throws AppError `not-found` for a grant that has ended, or of another account */
  async end(accountId: string, grantId: string, by: ActOrigin): Promise<ActAnswerDto> {
    const ended = await this.grants.end(accountId, grantId, by, new Date(this.clock.now()));
    this.changes.announceEnds([orRefuse(ended, 'not-found')]);
    return { success: true, changed: true };
  }
}
