import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { normalizeBase64 } from '../../policy/base64.js';
import { DeviceRequestRepository } from '../../storage/device-request.repository.js';
import { AccountAccess } from '../account-access.js';
import type { DeviceRequestStateDto } from './devices.dto.js';

const LIFETIME_MS = 10 * 60_000;

/** Relays an account's secret from an old device to a new one (contract, Adding a device). */
@Injectable()
export class DevicesService {
  constructor(
    private readonly requests: DeviceRequestRepository,
    private readonly access: AccountAccess,
    private readonly clock: Clock,
  ) {}

  /** Opens a request, or hands its answer out, to exactly one caller. */
  async request(publicKey: string): Promise<DeviceRequestStateDto> {
    const key = decodeX25519(publicKey);
    const now = this.clock.now();
    const answer = await this.requests.takeAnswer(key, new Date(now));
    if (answer !== null) {
      const { token } = this.access.logIn(answer.account, false);
      return { state: 'authorized', token, response: answer.response };
    }
    const expiresAt = await this.requests.open(key, new Date(now + LIFETIME_MS), new Date(now));
    return { state: 'requested', expiresAt: expiresAt.getTime() };
  }

  /** @throws AppError `not-found` when no live request has that key */
  async respond(accountId: string, publicKey: string, response: string): Promise<void> {
    const now = new Date(this.clock.now());
    const key = decodeX25519(publicKey);
    if (!(await this.requests.answer(key, accountId, response, now))) {
      throw new AppError('not-found');
    }
  }
}

function decodeX25519(text: string): Buffer {
  const normalized = normalizeBase64(text, 32, 32);
  if (normalized === null) {
    throw new AppError('invalid-public-key');
  }
  return Buffer.from(normalized, 'base64url');
}
