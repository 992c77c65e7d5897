import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError, invalidRequest } from '../../common/errors.js';
import { normalizeBase64 } from '../../policy/base64.js';
import {
  drawUserCode,
  readUserCode,
  showUserCode,
  USER_CODE_LIFETIME_MS,
} from '../../policy/flow/user-code.js';
import { Database, type Query } from '../../storage/database.js';
import {
  DeviceAuthorizationRepository,
  type AnswerOutcome,
  type TakenApproval,
} from '../../storage/repositories/device-authorization.repository.js';
import type { Access } from '../../auth/auth.service.js';
import { RateLimits } from '../../auth/rate-limits.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import { SessionIssuer } from '../../auth/sessions/session-issuer.js';
import { isProofOf } from '../login-proof.js';
import type {
  DeviceRequestDto,
  DeviceTokenDto,
  RequestDeviceDto,
  WaitingDeviceDto,
} from './devices.dto.js';

/** The shortest interval between two requests of a device for its token. */
const POLL_MS = 3000;
const MAX_SEALED_BYTES = 1024;
/** Of 20^8 codes at most a few thousand are in use: even one collision is rare. */
const MAX_DRAWS = 5;

/** Requests of new devices, the answers to them, and their login (contract, Adding a device). */
@Injectable()
export class DevicesService {
  constructor(
    private readonly devices: DeviceAuthorizationRepository,
    private readonly database: Database,
    private readonly issuer: SessionIssuer,
    private readonly limits: RateLimits,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `invalid-public-key`, `unavailable` */
  async request(body: RequestDeviceDto, { address }: LoginOrigin): Promise<DeviceRequestDto> {
    const device = {
      publicKey: decodeX25519(body.publicKey),
      proofHash: Buffer.from(body.proofHash, 'hex'),
      clientName: body.client?.name ?? null,
      clientPlatform: body.client?.platform ?? null,
      address,
    };
    const now = this.clock.now();
    const expiresAt = now + USER_CODE_LIFETIME_MS;
    for (let draws = 0; draws < MAX_DRAWS; draws += 1) {
      const code = drawUserCode(randomInt);
      const id = await this.devices.add(code, device, new Date(now), new Date(expiresAt));
      if (id !== null) {
        return { id, userCode: showUserCode(code), expiresAt, intervalSeconds: POLL_MS / 1000 };
      }
    }
    throw new AppError('unavailable');
  }

  /**
   * The device that shows a user code. Guessing is limited by account and by address.
   *
   * @throws AppError `not-found`, `rate-limited`
   */
  async find(text: string, { accountId }: Access, address: string): Promise<WaitingDeviceDto> {
    const code = readUserCode(text);
    if (code === null) {
      throw new AppError('not-found');
    }
    await this.limits.count('deviceLookupPerAccount', accountId);
    await this.limits.count('deviceLookupPerIp', address);
    const found = await this.devices.findWaiting(code, new Date(this.clock.now()));
    if (found === null) {
      throw new AppError('not-found');
    }
    return {
      id: found.id,
      publicKey: found.publicKey.toString('base64url'),
      client: { name: found.clientName, platform: found.clientPlatform },
      address: found.address,
      createdAt: found.createdAt.getTime(),
    };
  }

  /**
   * Lets the device log in to the caller's account, while the caller's session goes on.
   *
   * @param sealed of keyed accounts, and of no other
   * @throws AppError `invalid-request`, `not-found`, `already-answered`, `token-revoked`
   */
  async approve(id: string, caller: Access, sealed: string | null, address: string): Promise<void> {
    const secret = sealed === null ? null : normalizeBase64(sealed, 1, MAX_SEALED_BYTES);
    if (sealed !== null && secret === null) {
      throw invalidRequest('sealed', 'Send 1 to 1024 bytes in base64url.');
    }
    const answer = { ...caller, id, address };
    const outcome = await this.devices.approve(answer, secret, new Date(this.clock.now()));
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

  /** @throws AppError `not-found`, `already-answered`, `token-revoked` */
  async refuse(id: string, caller: Access, address: string): Promise<void> {
    const answer = { ...caller, id, address };
    const outcome = await this.devices.refuse(answer, new Date(this.clock.now()));
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

  /**
   * The state of the request, with a session where it was approved: once, while the approving session
   * is active.
   *
   * @throws AppError `not-found`, `invalid-proof`, `rate-limited` when it polls too often
   */
  async claim(id: string, proof: string): Promise<DeviceTokenDto> {
    const now = this.clock.now();
    const known = await this.devices.progressOf(id, new Date(now));
    if (known === null) {
      throw new AppError('not-found');
    }
    // First, so that a caller who only knows the id changes nothing.
    if (!isProofOf(proof, known.proofHash.toString('hex'))) {
      throw new AppError('invalid-proof');
    }
    const sinceLast = now - (known.polledAt?.getTime() ?? 0);
    if (sinceLast < POLL_MS) {
      throw tooOften(POLL_MS - sinceLast);
    }
    if (known.state === 'approved') {
      return this.logIn(id, new Date(now));
    }
    if (!(await this.devices.notePoll(id, new Date(now), new Date(now - POLL_MS)))) {
      throw tooOften(POLL_MS);
    }
    return { state: known.state };
  }

  private async logIn(id: string, now: Date): Promise<DeviceTokenDto> {
    const begun = await this.database.transaction(async (query) => {
      const taken = await this.devices.take(query, id, now);
      if (taken === null) {
        throw new AppError('not-found');
      }
      return taken.isGood ? this.begin(query, taken) : null;
    });
    if (begun === null) {
      return { state: 'refused' };
    }
    const { token, accountId } = await this.issuer.answer(begun.account, begun.session, false);
    return { state: 'approved', token, accountId, sealed: begun.sealed };
  }

  private async begin(query: Query, taken: TakenApproval) {
    const client = {
      ...(taken.clientName !== null && { name: taken.clientName }),
      ...(taken.clientPlatform !== null && { platform: taken.clientPlatform }),
    };
    const session = this.issuer.prepare('device', { client, address: taken.address });
    const account = await this.issuer.begin(taken.accountId, session, query);
    return { account, session, sealed: taken.sealed };
  }
}

/** At most the interval, whatever the clocks of two servers. */
function tooOften(waitMs: number): AppError {
  const retryAfterSeconds = Math.ceil(Math.min(waitMs, POLL_MS) / 1000);
  return new AppError('rate-limited', { retryAfterSeconds });
}

function decodeX25519(text: string): Buffer {
  const normalized = normalizeBase64(text, 32, 32);
  if (normalized === null) {
    throw new AppError('invalid-public-key');
  }
  return Buffer.from(normalized, 'base64url');
}
