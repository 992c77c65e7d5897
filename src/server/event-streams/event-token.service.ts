import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/runtime/clock.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { SigningKeysService } from '../oauth/signing-keys.service.js';
import { signToken } from '../oauth/token-signature.js';
import type { SecurityEvent } from '../storage/repositories/oauth/security-event.repository.js';
import { causeOf } from './event-causes.js';

export const SESSION_REVOKED =
  'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';

/** The type of security event tokens (RFC 8417, 2.3): none passes as an access token. */
const TYPE = 'secevent+jwt';
const ALGORITHM = 'RS256';
/** About 1.5 kB each. Streams of one backend share the tokens, because a signature is expensive. */
const MAX_SIGNED = 5000;

/** Signs events on delivery, with the key of that time. */
@Injectable()
export class EventTokenService {
  private readonly signed = new LRUCache<string, Promise<string>>({ max: MAX_SIGNED });
  private readonly issuer: string;

  constructor(
    private readonly keys: SigningKeysService,
    private readonly clock: Clock,
    @Inject(httpConfig.KEY) http: HttpSettings,
  ) {
    this.issuer = http.publicUrl ?? '';
  }

  /** @throws AppError `unavailable` before the keys were read */
  of(event: SecurityEvent, backend: ResourceServerSettings, streamId: string): Promise<string> {
    const key = `${this.keys.current(ALGORITHM).kid} ${event.id}`;
    const known = this.signed.get(key);
    if (known !== undefined) {
      return known;
    }
    const signing = this.sign(event, backend, streamId);
    this.signed.set(key, signing);
    signing.catch(() => this.signed.delete(key));
    return signing;
  }

  private sign(
    event: SecurityEvent,
    { resource }: ResourceServerSettings,
    streamId: string,
  ): Promise<string> {
    const content = event.sid === null ? verification(event, streamId) : this.sessionRevoked(event);
    return signToken(this.keys.current(ALGORITHM), TYPE, {
      iss: this.issuer,
      aud: resource,
      iat: Math.floor(this.clock.now() / 1000),
      jti: event.id,
      txn: event.txn,
      ...content,
    });
  }

  /** OpenID Continuous Access Evaluation Profile 1.0, 3.1. */
  private sessionRevoked({ sid, accountId, at, code, cause }: SecurityEvent): object {
    const { reason, initiatingEntity } = causeOf(cause, code);
    return {
      sub_id: {
        format: 'complex',
        session: { format: 'opaque', id: sid },
        user: { format: 'iss_sub', iss: this.issuer, sub: accountId },
      },
      events: {
        [SESSION_REVOKED]: {
          event_timestamp: Math.floor(at / 1000),
          initiating_entity: initiatingEntity,
          reason_admin: { en: reason },
        },
      },
    };
  }
}

/** OpenID Shared Signals Framework 1.0, 8.1.4. */
function verification({ state }: SecurityEvent, streamId: string): object {
  return {
    sub_id: { format: 'opaque', id: streamId },
    events: { [VERIFICATION]: { ...(state !== null && { state }) } },
  };
}
