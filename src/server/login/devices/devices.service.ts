import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { AppError, invalidRequest, orRefuse } from '../../../common/errors.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { normalizeBase64 } from '../../../core/protocol/base64.js';
import { DatabaseService, type Transaction } from '../../storage/database.service.js';
import {
  DeviceAuthorizationRepository,
  type AnswerOutcome,
  type TakenApproval,
} from '../../storage/repositories/device-authorization.repository.js';
import type { VouchingSession } from '../../storage/repositories/session.repository.js';
import type { Access } from '../../auth/auth.service.js';
import { RateLimitService } from '../../auth/rate-limit.service.js';
import { SessionIssuerService } from '../../auth/sessions/session-issuer.service.js';
import { isProofOf } from '../login-proof.js';
import { POLL_MS } from './device-requests.service.js';
import type { DeviceTokenDto } from './devices.dto.js';

const MAX_SEALED_BYTES = 1024;

/** Approvals and refusals of new devices, and the logins of approved ones. */
@Injectable()
export class DevicesService {
  constructor(
    private readonly devices: DeviceAuthorizationRepository,
    private readonly database: DatabaseService,
    private readonly issuer: SessionIssuerService,
    private readonly limits: RateLimitService,
    private readonly audit: AuditService,
    private readonly runtime: Runtime,
  ) {}

  async approve(id: string, caller: Access, sealed: string, address: string): Promise<void> {
    const normalized = normalizeBase64(sealed, 1, MAX_SEALED_BYTES);
    if (normalized === null) {
      throw invalidRequest('sealed', 'Send 1 to 1024 bytes in base64url.');
    }
    const answer = { ...caller, id, address };
    const outcome = await this.database.transaction(async (tx) => {
      const now = new Date(this.runtime.clock.now());
      const approved = await this.devices.approve(tx, answer, normalized, now);
      if (approved.isAnswered) {
        // Only approvals count; one too many is rolled back.
        await this.limits.count('deviceApprovalPerAccount', caller.accountId);
      }
      return approved;
    });
    this.conclude('device-approved', outcome, caller, address);
  }

  async refuse(id: string, caller: Access, address: string): Promise<void> {
    const answer = { ...caller, id, address };
    const outcome = await this.devices.refuse(answer, new Date(this.runtime.clock.now()));
    this.conclude('device-refused', outcome, caller, address);
  }

  private conclude(
    kind: 'device-approved' | 'device-refused',
    { isAnswered, state }: AnswerOutcome,
    { accountId, sessionId }: Access,
    address: string,
  ): void {
    if (!isAnswered) {
      throw new AppError(state === null ? 'not-found' : 'already-answered');
    }
    this.audit.log({ kind, actor: 'user', accountId, sessionId, address });
  }

  /** Returns the session of an approved request once, while the approving session is active. */
  async claim(id: string, proof: string, sessionSeconds?: number): Promise<DeviceTokenDto> {
    const now = this.runtime.clock.now();
    const known = orRefuse(await this.devices.progressOf(id, new Date(now)), 'not-found');
    // First, so that a caller who only knows the id changes nothing.
    if (!isProofOf(proof, known.proofHash.toString('hex'))) {
      throw new AppError('invalid-proof');
    }
    const sinceLast = now - (known.polledAt?.getTime() ?? 0);
    if (sinceLast < POLL_MS) {
      throw tooOften(POLL_MS - sinceLast);
    }
    if (known.state === 'approved') {
      return this.logIn(id, new Date(now), sessionSeconds);
    }
    if (!(await this.devices.notePoll(id, new Date(now), new Date(now - POLL_MS)))) {
      throw tooOften(POLL_MS);
    }
    return { state: known.state };
  }

  private async logIn(
    id: string,
    now: Date,
    sessionSeconds: number | undefined,
  ): Promise<DeviceTokenDto> {
    const login = await this.database.transaction(async (tx) => {
      const taken = orRefuse(await this.devices.take(tx, id, now), 'not-found');
      const { voucher } = taken;
      return voucher === null ? null : this.begin(tx, taken, voucher, sessionSeconds);
    });
    if (login === null) {
      return { state: 'refused' };
    }
    const { token, accountId } = await this.issuer.answer(login.account, login.session, false);
    const { sealed } = login;
    return { state: 'approved', token, accountId, ...(sealed !== null && { sealed }) };
  }

  private async begin(
    tx: Transaction,
    taken: TakenApproval,
    voucher: VouchingSession,
    sessionSeconds: number | undefined,
  ) {
    const client = {
      ...(sessionSeconds !== undefined && { sessionSeconds }),
      ...(taken.clientName !== null && { name: taken.clientName }),
      ...(taken.clientPlatform !== null && { platform: taken.clientPlatform }),
    };
    const origin = { client, address: taken.address };
    const session = this.issuer.prepareVouched('device', origin, voucher);
    const account = await this.issuer.begin(taken.accountId, session, tx);
    return { account, session, sealed: taken.sealed };
  }
}

/** At most the interval, regardless of the clocks of two servers. */
function tooOften(waitMs: number): AppError {
  const retryAfterSeconds = Math.ceil(Math.min(waitMs, POLL_MS) / 1000);
  return new AppError('rate-limited', { retryAfterSeconds });
}
