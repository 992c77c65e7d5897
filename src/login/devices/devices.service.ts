import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { addressGroup } from '../../common/network/addresses.js';
import { AppError, invalidRequest, orRefuse } from '../../common/errors.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { USER_CODE_LIFETIME_MS } from '../../policy/flow/code-limits.js';
import { normalizeBase64 } from '../../protocol/base64.js';
import { drawUserCode, readUserCode, showUserCode } from '../../protocol/user-code.js';
import { DatabaseService, type Transaction } from '../../storage/database.service.js';
import {
  DeviceAuthorizationRepository,
  type AnswerOutcome,
  type TakenApproval,
} from '../../storage/repositories/device-authorization.repository.js';
import type { VouchingSession } from '../../storage/repositories/session.repository.js';
import type { Access } from '../../auth/auth.service.js';
import { RateLimitService } from '../../auth/rate-limit.service.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import { SessionIssuerService } from '../../auth/sessions/session-issuer.service.js';
import { isProofOf } from '../login-proof.js';
import type {
  DeviceRequestDto,
  DeviceTokenDto,
  RequestDeviceDto,
  WaitingDeviceDto,
} from './devices.dto.js';

const POLL_MS = 3000;
const MAX_SEALED_BYTES = 1024;
/** At most a few thousand of 20^8 codes are in use: even one collision is rare. */
const MAX_DRAWS = 5;

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

  async request(body: RequestDeviceDto, { address }: LoginOrigin): Promise<DeviceRequestDto> {
    const device = {
      publicKey: decodeX25519(body.publicKey),
      proofHash: Buffer.from(body.proofHash, 'hex'),
      clientName: body.client?.name ?? null,
      clientPlatform: body.client?.platform ?? null,
      address,
    };
    const { clock, random } = this.runtime;
    const now = clock.now();
    const expiresAt = now + USER_CODE_LIFETIME_MS;
    for (let draws = 0; draws < MAX_DRAWS; draws += 1) {
      const code = drawUserCode((bound) => random.below(bound));
      const id = await this.devices.add(code, device, new Date(now), new Date(expiresAt));
      if (id !== null) {
        return { id, userCode: showUserCode(code), expiresAt, intervalSeconds: POLL_MS / 1000 };
      }
    }
    throw new AppError('unavailable');
  }

  /** Look-ups that find none are limited by account and by address. */
  async find(text: string, { accountId }: Access, address: string): Promise<WaitingDeviceDto> {
    const code = orRefuse(readUserCode(text), 'not-found');
    const guesser = { accountId, addressGroup: addressGroup(address) };
    const now = this.runtime.clock.now();
    const missUntil = new Date(now + USER_CODE_LIFETIME_MS);
    const found = orRefuse(
      await this.devices.findWaiting(code, guesser, new Date(now), missUntil),
      'not-found',
    );
    if (found instanceof Date) {
      const retryAfterSeconds = Math.ceil((found.getTime() - now) / 1000);
      throw new AppError('rate-limited', { retryAfterSeconds });
    }
    return {
      id: found.id,
      publicKey: found.publicKey.toString('base64url'),
      client: { name: found.clientName, platform: found.clientPlatform },
      address: found.address,
      createdAt: found.createdAt.getTime(),
    };
  }

  /** @param sealed of keyed accounts, and of no other */
  async approve(id: string, caller: Access, sealed: string | null, address: string): Promise<void> {
    const secret = sealed === null ? null : normalizeBase64(sealed, 1, MAX_SEALED_BYTES);
    if (sealed !== null && secret === null) {
      throw invalidRequest('sealed', 'Send 1 to 1024 bytes in base64url.');
    }
    const answer = { ...caller, id, address };
    const outcome = await this.database.transaction(async (tx) => {
      const now = new Date(this.runtime.clock.now());
      const approved = await this.devices.approve(tx, answer, secret, now);
      if (approved.isAnswered) {
        // Only approvals count; one too many is rolled back.
        await this.limits.count('deviceApprovalPerAccount', caller.accountId);
      }
      return approved;
    });
    if (outcome.keyMode === 'keyed' && secret === null) {
      throw invalidRequest(
        'sealed',
        "This account has a device key: send its secret, sealed to the device's key.",
      );
    }
    if (outcome.keyMode === 'keyless' && secret !== null) {
      throw invalidRequest('sealed', 'This account has no device key: there is no secret to send.');
    }
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
    return { state: 'approved', token, accountId, sealed: login.sealed };
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

function decodeX25519(text: string): Buffer {
  const normalized = orRefuse(normalizeBase64(text, 32, 32), 'invalid-public-key');
  return Buffer.from(normalized, 'base64url');
}
