import { Injectable } from '@nestjs/common';
import { decodeProtectedHeader } from 'jose';
import { AppError } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import { describeGrant } from '../../core/policy/programs/describe-grant.js';
import { ProgramGrantRepository } from '../storage/repositories/programs/program-grant.repository.js';
import { ProgramTokenRepository } from '../storage/repositories/programs/program-token.repository.js';
import { GrantChangesService } from './grant-changes.service.js';
import { ProgramServersService } from './program-servers.service.js';
import type { GrantDto, RevocationForm } from './programs.dto.js';
import { isSealedBy, readRefreshToken } from './refresh-token.js';

/** Lists the grants of an account, and ends those that a program gives back. */
@Injectable()
export class ProgramsService {
  constructor(
    private readonly grants: ProgramGrantRepository,
    private readonly tokens: ProgramTokenRepository,
    private readonly changes: GrantChangesService,
    private readonly servers: ProgramServersService,
    private readonly clock: Clock,
  ) {}

  /** Returns the grants, newest first. */
  async list(accountId: string): Promise<GrantDto[]> {
    const grants = await this.grants.list(accountId, new Date(this.clock.now()));
    const backends = this.servers.all.map(({ server }) => server);
    return grants.map((grant) => describeGrant(grant, backends));
  }

  /** @throws AppError `not-found` */
  end(accountId: string, id: string): Promise<void> {
    return this.changes.end(accountId, id, { actor: 'user' });
  }

  /**
   * Ends the grant of a refresh token (RFC 7009). One that is unknown, or of another program, changes
   * nothing.
   * @throws AppError `unsupported-token-type` for an access token, `unavailable` while no master secret
   *   opens the key of the grant: the program tries again (RFC 7009, 2.2.1)
   */
  async revoke({ token, client_id: clientId }: RevocationForm, address: string): Promise<void> {
    if (isJwt(token)) {
      throw new AppError('unsupported-token-type');
    }
    const presented = readRefreshToken(token);
    if (presented === null) {
      return;
    }
    const now = new Date(this.clock.now());
    const ended = await this.tokens.withGrant(presented.grantId, async (grant, tx) => {
      const { refreshKey, codeUsedAt } = grant;
      if (refreshKey === null && codeUsedAt !== null) {
        throw new AppError('unavailable');
      }
      const isOf = grant.clientId === clientId && refreshKey !== null;
      return isOf && isSealedBy(refreshKey, presented)
        ? {
            accountId: grant.accountId,
            event: await this.tokens.end(tx, grant, 'program-revoked', { address, now }),
          }
        : null;
    });
    if (ended !== null) {
      this.changes.announce(ended.accountId, ended.event);
    }
  }
}

function isJwt(token: string): boolean {
  try {
    decodeProtectedHeader(token);
    return true;
  } catch {
    return false;
  }
}
