import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { Database, type Query } from '../../storage/database.js';
import {
  DeviceAuthorizationRepository,
  type TakenApproval,
} from '../../storage/device-authorization.repository.js';
import type { NewSession } from '../../storage/session-sql.js';
import type { LoggedInAccount } from '../../storage/session.repository.js';
import { isProofOf } from '../login-proof.js';
import { SessionIssuer } from '../sessions/session-issuer.js';
import type { DeviceTokenDto } from './devices.dto.js';

/** How long a device waits between two questions. */
export const DEVICE_POLL_MS = 3000;

const REFUSED: DeviceTokenDto = { state: 'refused' };

interface Begun {
  readonly account: LoggedInAccount;
  readonly session: NewSession;
  readonly sealed: string | null;
}

/** New devices that ask whether they were approved (contract, Adding a device). */
@Injectable()
export class DeviceClaims {
  constructor(
    private readonly devices: DeviceAuthorizationRepository,
    private readonly database: Database,
    private readonly issuer: SessionIssuer,
    private readonly clock: Clock,
  ) {}

  /**
   * The answer to a device, with a session of its own where it was approved: once, while the session
   * that approved goes on.
   *
   * @throws AppError `not-found`, `invalid-proof`, `rate-limited` when it asks too often
   */
  async claim(id: string, proof: string): Promise<DeviceTokenDto> {
    const now = this.clock.now();
    const known = await this.devices.progressOf(id, new Date(now));
    if (known === null) {
      throw new AppError('not-found');
    }
    // Before all else, so that a stranger who knows the id changes nothing.
    if (!isProofOf(proof, known.proofHash.toString('hex'))) {
      throw new AppError('invalid-proof');
    }
    const sinceLast = now - (known.polledAt?.getTime() ?? 0);
    if (sinceLast < DEVICE_POLL_MS) {
      throw tooOften(DEVICE_POLL_MS - sinceLast);
    }
    if (known.state === 'approved') {
      return this.logIn(id, new Date(now));
    }
    if (!(await this.devices.notePoll(id, new Date(now), new Date(now - DEVICE_POLL_MS)))) {
      throw tooOften(DEVICE_POLL_MS);
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
      return REFUSED;
    }
    const { token, accountId } = await this.issuer.answer(begun.account, begun.session, false);
    return { state: 'approved', token, accountId, sealed: begun.sealed };
  }

  private async begin(query: Query, taken: TakenApproval): Promise<Begun> {
    const client = {
      ...(taken.clientName !== null && { name: taken.clientName }),
      ...(taken.clientPlatform !== null && { platform: taken.clientPlatform }),
    };
    const session = this.issuer.prepare('device', { client, address: taken.address });
    const account = await this.issuer.begin(taken.accountId, session, query);
    return { account, session, sealed: taken.sealed };
  }
}

/** No longer than the interval, however far apart two servers' clocks are. */
function tooOften(waitMs: number): AppError {
  const retryAfterSeconds = Math.ceil(Math.min(waitMs, DEVICE_POLL_MS) / 1000);
  return new AppError('rate-limited', { retryAfterSeconds });
}
