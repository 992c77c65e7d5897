import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { AuthService, type Access } from '../auth/auth.service.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { AppError, orRefuse } from '../../common/errors.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { isFreshLogin } from '../../core/policy/admission/access.js';
import { isGrantable } from '../../core/policy/programs/program-scopes.js';
import {
  APPROVAL_LOGIN_MS,
  CODE_LIFETIME_MS,
  type ProgramRules,
} from '../../core/policy/programs/programs.js';
import { ProgramApprovalRepository } from '../storage/repositories/programs/program-approval.repository.js';
import { answerAddress, type AuthorizationRequest } from './authorization-request.js';
import { ProgramServersService } from './program-servers.service.js';
import type { ApprovalDto, AuthorizationRequestDto } from './programs.dto.js';

/** Shows the requests of programs to people, and takes their answers. */
@Injectable()
export class ProgramApprovalService {
  constructor(
    private readonly approvals: ProgramApprovalRepository,
    private readonly servers: ProgramServersService,
    private readonly auth: AuthService,
    private readonly limits: RateLimitService,
    private readonly audit: AuditService,
    private readonly runtime: Runtime,
  ) {}

  /** @throws AppError `request-expired`, and as {@link AuthService.judgeFor} */
  async show(id: string, caller: Access): Promise<AuthorizationRequestDto> {
    const now = this.runtime.clock.now();
    const request = orRefuse(
      await this.approvals.read<AuthorizationRequest>(id, new Date(now)),
      'request-expired',
    );
    const { server, programs } = this.servers.find(request.resourceServer);
    await this.auth.judgeFor(server, caller);
    const certificateEnd = await this.approvals.certificateEnd(caller.sessionId);
    return {
      client: request.client,
      redirectUri: request.redirectUri,
      resource: { id: server.id, name: server.name },
      scopes: request.scopes.flatMap((scope) => {
        const known = programs.scopes[scope];
        return known === undefined ? [] : [{ id: scope, ...known, requires: [...known.requires] }];
      }),
      expiresAt: request.expiresAt,
      grantExpiresAt: Math.min(now + programs.maxGrantSeconds * 1000, certificateEnd ?? Infinity),
    };
  }

  /**
   * Judges the person, consumes the request and stores the grant with its code, in one transaction.
   * @throws AppError `fresh-login-required`, `request-expired`, `request-changed`, `invalid-scope`,
   *   `rate-limited`, and as {@link AuthService.judgeFor}
   */
  async approve(
    id: string,
    caller: Access,
    approval: ApprovalDto,
    address: string,
  ): Promise<string> {
    const now = this.runtime.clock.now();
    if (!isFreshLogin(caller.loggedInAt, APPROVAL_LOGIN_MS, now)) {
      throw new AppError('fresh-login-required');
    }
    const code = this.runtime.random.secret();
    const { request, event } = await this.approvals.approve<AuthorizationRequest>(
      id,
      caller.accountId,
      new Date(now),
      async (shown, tx) => {
        const { server, programs } = this.servers.find(shown.resourceServer);
        await this.auth.judgeFor(server, caller, tx);
        checkApproval(shown, approval, programs);
        // Only approvals count; one too many is rolled back.
        await this.limits.count('programApprovalPerAccount', caller.accountId);
        return {
          ...{ accountId: caller.accountId, sessionId: caller.sessionId, address, code },
          resourceServer: server.id,
          clientId: shown.client.id,
          clientName: shown.client.name,
          redirectUri: shown.redirectUri,
          scopes: shown.scopes.filter((scope) => approval.scopes.includes(scope)),
          codeChallenge: shown.codeChallenge,
          codeExpiresAt: new Date(now + CODE_LIFETIME_MS),
          grantedUntil: new Date(now + programs.maxGrantSeconds * 1000),
        };
      },
    );
    this.audit.log(event);
    return answerAddress(request.redirectUri, this.servers.issuer, request.state, { code });
  }

  /** @throws AppError `request-expired` */
  async deny(id: string): Promise<string> {
    const request = orRefuse(
      await this.approvals.take<AuthorizationRequest>(id, new Date(this.runtime.clock.now())),
      'request-expired',
    );
    const answer = { error: 'access_denied' };
    return answerAddress(request.redirectUri, this.servers.issuer, request.state, answer);
  }
}

/** The answer repeats what was shown, so that a page cannot approve another request by mistake. */
function checkApproval(
  { client, redirectUri, scopes: asked }: AuthorizationRequest,
  approval: ApprovalDto,
  { scopes }: ProgramRules,
): void {
  if (client.id !== approval.clientId || redirectUri !== approval.redirectUri) {
    throw new AppError('request-changed');
  }
  if (!isGrantable(approval.scopes, asked, scopes)) {
    throw new AppError('invalid-scope');
  }
}
