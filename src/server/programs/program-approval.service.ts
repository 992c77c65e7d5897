import { Injectable } from '@nestjs/common';
import { AuthService, type Access } from '../auth/auth.service.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { AppError, orRefuse } from '../../common/errors.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { isFreshLogin } from '../../core/policy/admission/access.js';
import { isGrantable, withRequired } from '../../core/policy/programs/program-scopes.js';
import {
  APPROVAL_LOGIN_MS,
  CODE_LIFETIME_MS,
  FILE_CLIENT,
  IDLE_GRANT_MS,
  type ProgramRules,
} from '../../core/policy/programs/programs.js';
import { ProgramApprovalRepository } from '../storage/repositories/programs/program-approval.repository.js';
import { answerAddress, type AuthorizationRequest } from './authorization-request.js';
import { GrantChangesService } from './grant-changes.service.js';
import { ProgramServersService, type ProgramServer } from './program-servers.service.js';
import type {
  ApprovalDto,
  AuthorizationRequestDto,
  NewProgramFileDto,
  ProgramFileDto,
} from './programs.dto.js';
import { refreshTokenOf } from './refresh-token.js';

/** Shows the requests of programs to people, takes their answers, and grants files without a request. */
@Injectable()
export class ProgramApprovalService {
  constructor(
    private readonly approvals: ProgramApprovalRepository,
    private readonly servers: ProgramServersService,
    private readonly auth: AuthService,
    private readonly limits: RateLimitService,
    private readonly changes: GrantChangesService,
    private readonly runtime: Runtime,
  ) {}

  /** @throws AppError `request-expired`, and as {@link AuthService.judgeFor} */
  async show(id: string, caller: Access): Promise<AuthorizationRequestDto> {
    const now = this.runtime.clock.now();
    const request = orRefuse(
      await this.approvals.read<AuthorizationRequest>(id),
      'request-expired',
    );
    const { server, programs } = this.servers.find(request.resourceServer);
    await this.auth.judgeFor(server, caller);
    const certificateEnd = await this.approvals.certificateEnd(caller.sessionId);
    return {
      client: request.client,
      redirectUri: request.redirectUri,
      resource: { id: server.id, name: server.name },
      scopes: describedScopes(request.scopes, programs),
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
    requireFreshLogin(caller, now);
    const code = this.runtime.random.secret();
    const { request, added } = await this.approvals.approve<AuthorizationRequest>(
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
          accountId: caller.accountId,
          sessionId: caller.sessionId,
          address,
          resourceServer: server.id,
          clientId: shown.client.id,
          clientName: shown.client.name,
          scopes: shown.scopes.filter((scope) => approval.scopes.includes(scope)),
          code: {
            text: code,
            challenge: shown.codeChallenge,
            redirectUri: shown.redirectUri,
            expiresAt: new Date(now + CODE_LIFETIME_MS),
          },
          grantedUntil: new Date(now + programs.maxGrantSeconds * 1000),
        };
      },
    );
    this.changes.announceGrant(caller.accountId, added);
    return answerAddress(request.redirectUri, this.servers.issuer, request.state, { code });
  }

  /**
   * Grants a program access whose refresh token the person stores: it has no address for a code.
   * @throws AppError `fresh-login-required`, `invalid-target`, `invalid-scope`, `rate-limited`, and as
   *   {@link AuthService.judgeFor}
   */
  async addFile(
    caller: Access,
    { name, resource, scopes: asked, expiresInSeconds }: NewProgramFileDto,
    address: string,
  ): Promise<ProgramFileDto> {
    const now = this.runtime.clock.now();
    requireFreshLogin(caller, now);
    const { server, programs } = this.serverOfFile(resource);
    const scopes = grantedScopes(asked ?? programs.initial, programs);
    const seconds = Math.min(expiresInSeconds ?? Infinity, programs.maxGrantSeconds);
    const { accountId, sessionId } = caller;
    const added = await this.approvals.addFile(accountId, new Date(now), async (tx) => {
      const { holdsUntil } = await this.auth.judgeFor(server, caller, tx);
      await this.limits.count('programApprovalPerAccount', accountId);
      const until = Math.min(holdsUntil, now + IDLE_GRANT_MS);
      return {
        grant: {
          accountId,
          sessionId,
          address,
          resourceServer: server.id,
          clientId: FILE_CLIENT,
          clientName: name,
          scopes,
          code: null,
          grantedUntil: new Date(now + seconds * 1000),
        },
        judgement: { until, rules: this.auth.rulesOf(server) },
      };
    });
    this.changes.announceGrant(accountId, added);
    return {
      id: added.id,
      clientId: FILE_CLIENT,
      refreshToken: refreshTokenOf(added.refreshKey, added.id, 0),
      resource: { id: server.id, name: server.name },
      scopes: describedScopes(scopes, programs),
      expiresAt: added.grantedUntil.getTime(),
    };
  }

  private serverOfFile(id: string): ProgramServer {
    const accepting = this.servers.all.filter(({ server }) =>
      this.servers.accepts({ resourceServer: server.id, clientId: FILE_CLIENT }),
    );
    const found = accepting.find(({ server }) => server.id === id);
    if (found === undefined) {
      const ids = accepting.map(({ server }) => server.id).join(', ') || 'none';
      const message = `Backends for which programs can be added: ${ids}.`;
      throw new AppError('invalid-target', { details: [{ path: 'resource', message }] });
    }
    return found;
  }

  /** @throws AppError `request-expired` */
  async deny(id: string): Promise<string> {
    const request = orRefuse(
      await this.approvals.take<AuthorizationRequest>(id),
      'request-expired',
    );
    const answer = { error: 'access_denied' };
    return answerAddress(request.redirectUri, this.servers.issuer, request.state, answer);
  }
}

/** Applies also where the server demands no fresh logins. */
function requireFreshLogin({ loggedInAt }: Access, now: number): void {
  if (!isFreshLogin(loggedInAt, APPROVAL_LOGIN_MS, now)) {
    throw new AppError('fresh-login-required');
  }
}

function describedScopes(ids: readonly string[], { scopes }: ProgramRules) {
  return ids.flatMap((id) => {
    const known = scopes[id];
    return known === undefined ? [] : [{ id, ...known, requires: [...known.requires] }];
  });
}

/** Returns these scopes with those that they require. A person's typing error grants nothing else. */
function grantedScopes(asked: readonly string[], { scopes }: ProgramRules): readonly string[] {
  if (asked.length === 0 || !asked.every((id) => Object.hasOwn(scopes, id))) {
    const message = `The backend has: ${Object.keys(scopes).join(', ')}.`;
    throw new AppError('invalid-scope', { details: [{ path: 'scopes', message }] });
  }
  return withRequired(asked, scopes);
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
