import { Inject, Injectable } from '@nestjs/common';
import { addressGroup } from '../../../common/addresses.js';
import { AppError, orRefuse } from '../../../common/errors.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { USER_CODE_LIFETIME_MS } from '../../../core/policy/flow/code-limits.js';
import { normalizeBase64 } from '../../../core/protocol/base64.js';
import { DEVICE_VERSION } from '../../../core/protocol/device-version.js';
import { drawUserCode, readUserCode, showUserCode } from '../../../core/protocol/user-code.js';
import { DeviceAuthorizationRepository } from '../../storage/repositories/device-authorization.repository.js';
import type { Access } from '../../auth/auth.service.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import type { DeviceRequestDto, RequestDeviceDto, WaitingDeviceDto } from './devices.dto.js';

export const POLL_MS = 3000;
/** At most a few thousand of 20^8 codes are in use: even one collision is rare. */
const MAX_DRAWS = 5;

/** Requests of new devices, and their look-up by the device that approves. */
@Injectable()
export class DeviceRequestsService {
  constructor(
    private readonly devices: DeviceAuthorizationRepository,
    private readonly runtime: Runtime,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
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
        const userCode = showUserCode(code);
        return { ...this.server(), id, userCode, expiresAt, intervalSeconds: POLL_MS / 1000 };
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
      ...this.server(),
      id: found.id,
      publicKey: found.publicKey.toString('base64url'),
      client: { name: found.clientName, platform: found.clientPlatform },
      address: found.address,
      createdAt: found.createdAt.getTime(),
    };
  }

  /** Lists the configured origins: that of the request would be a relaying attacker's. */
  private server(): Pick<DeviceRequestDto, 'v' | 'origins'> {
    return { v: DEVICE_VERSION, origins: [...this.config.loginOrigins] };
  }
}

function decodeX25519(text: string): Buffer {
  const normalized = orRefuse(normalizeBase64(text, 32, 32), 'invalid-public-key');
  return Buffer.from(normalized, 'base64url');
}
