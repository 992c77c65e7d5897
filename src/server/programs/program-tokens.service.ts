import { createHash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuthService } from '../auth/auth.service.js';
import { AppError, orRefuse } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';
import { OFFLINE_ACCESS } from '../../core/policy/programs/program-scopes.js';
import { IDLE_GRANT_MS } from '../../core/policy/programs/programs.js';
import type { TokenDto, TokenForm } from '../oauth/oauth.dto.js';
import { ResourceTokenService } from '../oauth/resource-token.service.js';
import type { TokenCaller } from '../oauth/token-answer.service.js';
import type { Transaction } from '../storage/database.service.js';
import type { Judgement } from '../storage/repositories/oauth/resource-session.repository.js';
import {
  ProgramTokenRepository,
  type AskedGrant,
  type GrantUse,
} from '../storage/repositories/programs/program-token.repository.js';
import { GrantChangesService } from './grant-changes.service.js';
import { isResource, requireParameter } from './authorization-request.js';
import { isFinal } from './ends/final-refusal.js';
import { ProgramServersService, type ProgramServer } from './program-servers.service.js';
import { isSealedBy, nextState, readRefreshToken, refreshTokenOf } from './refresh-token.js';

/** A use of a grant that is committed: what to issue, or the refusal that changed the grant. */
type Outcome =
  | {
      readonly grant: AskedGrant;
      readonly sid: string;
      readonly refreshToken: string;
      readonly scopes: readonly string[];
    }
  | { readonly refusal: AppError; readonly accountId: string; readonly event: AuditEvent | null };

type RefreshState = NonNullable<ReturnType<typeof nextState>>;

/** The place and time of a use. */
interface UsedFrom {
  readonly address: string;
  readonly now: Date;
}

/** A refresh token that is presented. */
interface RefreshUse extends UsedFrom {
  readonly form: TokenForm;
  readonly presented: NonNullable<ReturnType<typeof readRefreshToken>>;
}

/** A valid code or refresh token gets these, unless the person is refused. */
interface NextUse {
  readonly found: ProgramServer;
  readonly scopes: readonly string[];
  readonly state: RefreshState;
}

interface NextRefresh extends NextUse {
  /** The newest refresh token. */
  readonly token: string;
}

const FIRST: RefreshState = { generation: 0, supersededAt: [] };

/** Issues the tokens of programs for codes and refresh tokens (RFC 6749, 4.1.3 and 6). */
@Injectable()
export class ProgramTokensService {
  constructor(
    private readonly grants: ProgramTokenRepository,
    private readonly servers: ProgramServersService,
    private readonly auth: AuthService,
    private readonly tokens: ResourceTokenService,
    private readonly changes: GrantChangesService,
    private readonly clock: Clock,
  ) {}

  /**
   * Refuses for good only what ended: everything that passes is `unavailable`, because programs
   * forget their tokens at `invalid_grant`.
   * @throws AppError `invalid-request` without a parameter, `invalid-grant`, `invalid-target`,
   *   `invalid-scope`, `unavailable`
   */
  async ofCode(form: TokenForm, { address }: TokenCaller): Promise<TokenDto> {
    const code = requireParameter(form.code, 'code');
    const clientId = requireParameter(form.client_id, 'client_id');
    const redirectUri = requireParameter(form.redirect_uri, 'redirect_uri');
    const verifier = requireParameter(form.code_verifier, 'code_verifier');
    const iat = this.tokens.issuedAt();
    const now = new Date(this.clock.now());
    const outcome = await this.grants.withCode<Outcome>(code, async (grant, tx) => {
      if (grant.codeUsedAt !== null) {
        const event = await this.grants.end(tx, grant, 'code-reused', { address, now });
        return refused(grant, 'invalid-grant', event);
      }
      const isOf =
        grant.expiresAt > now &&
        grant.clientId === clientId &&
        grant.redirectUri === redirectUri &&
        isVerifierOf(grant.codeChallenge, verifier);
      if (!isOf) {
        throw new AppError('invalid-grant');
      }
      const found = this.serverOf(grant, form);
      const scopes = narrowed(grant.scopes, undefined, found);
      return this.useHeld(grant, { found, scopes, state: FIRST }, { address, now }, tx);
    });
    return this.issue(outcome, iat);
  }

  /** @throws AppError as {@link ofCode} */
  async ofRefreshToken(form: TokenForm, { address }: TokenCaller): Promise<TokenDto> {
    const token = requireParameter(form.refresh_token, 'refresh_token');
    requireParameter(form.client_id, 'client_id');
    const iat = this.tokens.issuedAt();
    const now = new Date(this.clock.now());
    const presented = orRefuse(readRefreshToken(token), 'invalid-grant');
    const use: RefreshUse = { form, presented, address, now };
    const outcome =
      (await this.refreshUnchanged(use)) ??
      (await this.grants.withGrant<Outcome>(presented.grantId, (grant, tx) =>
        this.refreshHeld(grant, use, tx),
      ));
    return this.issue(outcome, iat);
  }

  /**
   * Most refreshes change nothing that anything else decides by, and so need no lock.
   * @returns null where the grant has to be held
   */
  private async refreshUnchanged(use: RefreshUse): Promise<Outcome | null> {
    const grant = orRefuse(await this.grants.read(use.presented.grantId), 'invalid-grant');
    const next = this.nextOf(grant, use);
    if (next === null || grant.sid === null) {
      return null;
    }
    const { found, scopes, state } = next;
    const judgement = await this.judge(found, grant, use.now).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code === 'unavailable') {
        throw error;
      }
      return null;
    });
    const isStored =
      judgement !== null && (await this.grants.reuse(grant, useOf(use, judgement, state), use.now));
    return isStored ? { grant, sid: grant.sid, refreshToken: next.token, scopes } : null;
  }

  private async refreshHeld(grant: AskedGrant, use: RefreshUse, tx: Transaction): Promise<Outcome> {
    const next = this.nextOf(grant, use);
    if (next === null) {
      const event = await this.grants.end(tx, grant, 'refresh-token-reused', use);
      return refused(grant, 'invalid-grant', event);
    }
    return this.useHeld(grant, next, use, tx);
  }

  /** Stores the use of a grant. A refusal of the person is stored too: it ends the grant, or its session. */
  private async useHeld(
    grant: AskedGrant,
    { found, scopes, state }: NextUse,
    { address, now }: UsedFrom,
    tx: Transaction,
  ): Promise<Outcome> {
    try {
      const judgement = await this.judge(found, grant, now, tx);
      const use = useOf({ address }, judgement, state);
      const { sid, refreshKey } = await this.grants.use(tx, grant, use, now);
      return {
        grant,
        sid,
        refreshToken: refreshTokenOf(refreshKey, grant.id, state.generation),
        scopes,
      };
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'unavailable') {
        throw error;
      }
      if (isFinal(error)) {
        const event = await this.grants.end(tx, grant, error.code, { address, now });
        return refused(grant, 'invalid-grant', event);
      }
      await this.grants.lapse(tx, grant, error.code);
      return refused(grant, 'unavailable', null);
    }
  }

  /**
   * Verifies the refresh token. A refusal leaves the grant as it is.
   * @returns null for a token that was superseded too long ago
   */
  private nextOf(grant: AskedGrant, { form, presented, now }: RefreshUse): NextRefresh | null {
    const { refreshKey } = grant;
    if (refreshKey === null) {
      throw new AppError(grant.codeUsedAt === null ? 'invalid-grant' : 'unavailable');
    }
    const isOf = grant.expiresAt > now && grant.clientId === form.client_id;
    if (!isOf || !isSealedBy(refreshKey, presented)) {
      throw new AppError('invalid-grant');
    }
    const { generation, supersededAt, codeUsedAt } = grant;
    const before = { generation, supersededAt: supersededAt.map((at) => at.getTime()) };
    const usedAt = codeUsedAt?.getTime() ?? 0;
    const state = nextState(presented.generation, before, usedAt, now.getTime());
    if (state === null) {
      return null;
    }
    const found = this.serverOf(grant, form);
    const scopes = narrowed(grant.scopes, form.scope, found);
    return { found, scopes, state, token: refreshTokenOf(refreshKey, grant.id, state.generation) };
  }

  /**
   * @throws AppError `invalid-target` where the request names another backend; `unavailable` where this
   *   replica does not accept the program: another one may have a newer configuration
   */
  private serverOf(grant: AskedGrant, { resource }: TokenForm): ProgramServer {
    if (!this.servers.accepts(grant)) {
      throw new AppError('unavailable');
    }
    const found = this.servers.find(grant.resourceServer);
    if (resource !== undefined && !isResource(found.server.resource, resource)) {
      throw new AppError('invalid-target');
    }
    return found;
  }

  private async judge(
    { server }: ProgramServer,
    { accountId, id, grantedUntil }: AskedGrant,
    now: Date,
    tx?: Transaction,
  ): Promise<Judgement> {
    const grant = { accountId, sessionId: id, expiresAt: grantedUntil.getTime() } as const;
    const { holdsUntil } = await this.auth.judgeFor(server, { ...grant, isGrant: true }, tx);
    const until = Math.min(holdsUntil, now.getTime() + IDLE_GRANT_MS);
    return { until, rules: this.auth.rulesOf(server) };
  }

  private async issue(outcome: Outcome | null, iat: number): Promise<TokenDto> {
    if (outcome === null) {
      throw new AppError('invalid-grant');
    }
    if ('refusal' in outcome) {
      this.changes.announce(outcome.accountId, outcome.event);
      throw outcome.refusal;
    }
    const { grant, sid, refreshToken, scopes } = outcome;
    const { server, programs } = this.servers.find(grant.resourceServer);
    const { token, expiresIn } = await this.tokens.sign(server, grant.accountId, iat, {
      id: sid,
      expiresAt: grant.grantedUntil.getTime(),
      authenticatedAt: grant.authenticatedAt.getTime(),
      method: grant.method,
      identities: grant.identities,
      program: {
        clientId: grant.clientId,
        clientName: grant.clientName,
        grantId: grant.id,
        scopes,
        tokenSeconds: programs.tokenSeconds,
      },
    });
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: expiresIn,
      scope: scopes.join(' '),
      refresh_token: refreshToken,
    };
  }
}

function refused(
  { accountId }: AskedGrant,
  code: 'invalid-grant' | 'unavailable',
  event: AuditEvent | null,
): Outcome {
  return { refusal: new AppError(code), accountId, event };
}

function useOf(
  { address }: Pick<UsedFrom, 'address'>,
  judgement: Judgement,
  state: RefreshState,
): GrantUse {
  const supersededAt = state.supersededAt.map((at) => new Date(at));
  return { judgement, address, generation: state.generation, supersededAt };
}

/**
 * Returns the scopes of a token: those of the grant that the backend still has, or those of them
 * that the program asks for (RFC 6749, 6).
 */
function narrowed(
  granted: readonly string[],
  asked: string | undefined,
  { programs }: ProgramServer,
): readonly string[] {
  const current = granted.filter((scope) => Object.hasOwn(programs.scopes, scope));
  const wanted = (asked ?? '').split(' ').filter((name) => name !== '' && name !== OFFLINE_ACCESS);
  const scopes = wanted.length === 0 ? current : current.filter((one) => wanted.includes(one));
  if (scopes.length === 0 || wanted.some((scope) => !granted.includes(scope))) {
    throw new AppError('invalid-scope');
  }
  return scopes;
}

/** RFC 7636, 4.6. */
function isVerifierOf(challenge: string | null, verifier: string): boolean {
  const expected = Buffer.from(challenge ?? '', 'base64url');
  const hash = createHash('sha256').update(verifier).digest();
  return (
    /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) &&
    expected.length === hash.length &&
    timingSafeEqual(expected, hash)
  );
}
