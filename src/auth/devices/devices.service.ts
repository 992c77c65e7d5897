import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { normalizeBase64 } from '../../policy/base64.js';
import { drawUserCode, readUserCode, showUserCode } from '../../policy/user-code.js';
import {
  DeviceAuthorizationRepository,
  type AnswerOutcome,
} from '../../storage/device-authorization.repository.js';
import type { Access } from '../auth.service.js';
import { RateLimits } from '../rate-limits.js';
import type { LoginOrigin } from '../sessions/login-origin.js';
import type { DeviceRequestDto, RequestDeviceDto, WaitingDeviceDto } from './devices.dto.js';
import { DEVICE_POLL_MS } from './device-claims.js';

const LIFETIME_MS = 10 * 60_000;
const MAX_SEALED_BYTES = 1024;
/** Of 20^8 codes a few thousand are in use at most: even one collision is a rare thing. */
const MAX_DRAWS = 5;

/** New devices that ask to be added to an account, and the answers to them (contract, Adding a device). */
@Injectable()
export class DevicesService {
  constructor(
    private readonly devices: DeviceAuthorizationRepository,
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
    const expiresAt = now + LIFETIME_MS;
    for (let draws = 0; draws < MAX_DRAWS; draws += 1) {
      const code = drawUserCode(randomInt);
      const id = await this.devices.add(code, device, new Date(now), new Date(expiresAt));
      if (id !== null) {
        const intervalSeconds = DEVICE_POLL_MS / 1000;
        return { id, userCode: showUserCode(code), expiresAt, intervalSeconds };
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
      throw sealedProblem('Send 1 to 1024 bytes in base64url.');
    }
    const answer = { ...caller, id, address };
    const outcome = await this.devices.approve(answer, secret, new Date(this.clock.now()));
    if (outcome.keyMode === 'keyed' && secret === null) {
      throw sealedProblem(
        "This account has a device key: send its secret, sealed to the device's key.",
      );
    }
    if (outcome.keyMode === 'keyless' && secret !== null) {
      throw sealedProblem('This account has no device key: there is no secret to send.');
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
    { keyMode, isAnswered, state }: AnswerOutcome,
    { accountId, sessionId }: Access,
    address: string,
  ): void {
    if (keyMode === null) {
      throw new AppError('token-revoked');
    }
    if (!isAnswered) {
      throw new AppError(state === null ? 'not-found' : 'already-answered');
    }
    this.audit.tell({ kind, actor: 'user', accountId, sessionId, address });
  }
}

function sealedProblem(message: string): AppError {
  return new AppError('invalid-request', { details: [{ path: 'sealed', message }] });
}

function decodeX25519(text: string): Buffer {
  const normalized = normalizeBase64(text, 32, 32);
  if (normalized === null) {
    throw new AppError('invalid-public-key');
  }
  return Buffer.from(normalized, 'base64url');
}
