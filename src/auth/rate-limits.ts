import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressGroup } from '../common/address-group.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type RateLimitSettings, type Settings } from '../config/settings.js';

type Limited =
  keyof Omit<RateLimitSettings, 'perIp'> | 'deviceLookupPerAccount' | 'deviceLookupPerIp';

type Check = ReturnType<FastifyInstance['createRateLimit']>;

interface Limit {
  /** 0 = none. */
  readonly max: number;
  readonly windowMs: number;
}

const MINUTE_MS = 60_000;
/** Leaves a guess at a user code less than 2^-32 (RFC 8628, 5.1): there are 20^8 of them. */
const DEVICE_LOOKUPS: Limit = { max: 5, windowMs: 10 * MINUTE_MS };

/**
 * Counts what accounts and address groups do. The counts live in the store of `@fastify/rate-limit`:
 * memory, or Redis where several replicas share it.
 */
@Injectable()
export class RateLimits {
  private readonly checks = new Map<Limited, Check>();

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  /** Takes the store from the server, where the plugin is registered. */
  bind(server: FastifyInstance): void {
    const { perAccount, loginPerIp, handshakePerIp } = this.settings.rateLimits;
    const limits: Readonly<Record<Limited, Limit>> = {
      perAccount: { max: perAccount, windowMs: MINUTE_MS },
      loginPerIp: { max: loginPerIp, windowMs: MINUTE_MS },
      handshakePerIp: { max: handshakePerIp, windowMs: MINUTE_MS },
      deviceLookupPerAccount: DEVICE_LOOKUPS,
      deviceLookupPerIp: DEVICE_LOOKUPS,
    };
    for (const [name, { max, windowMs }] of Object.entries(limits) as [Limited, Limit][]) {
      if (max > 0) {
        this.checks.set(
          name,
          server.createRateLimit({
            max,
            timeWindow: windowMs,
            keyGenerator: (subject) => `${name}:${(subject as unknown as Subject).key}`,
          }),
        );
      }
    }
  }

  /**
   * Counts one act of `key`: an account id, or an address, which counts for its group.
   *
   * @throws AppError `rate-limited`
   */
  async count(name: Limited, key: string): Promise<void> {
    const check = this.checks.get(name);
    if (check === undefined) {
      return;
    }
    const counted = name.endsWith('PerIp') ? addressGroup(key) : key;
    const subject: Subject = { key: counted, routeOptions: { config: {} } };
    const limit = await check(subject as unknown as FastifyRequest);
    if (!limit.isAllowed && limit.isExceeded) {
      throw new AppError('rate-limited', { retryAfterSeconds: limit.ttlInSeconds });
    }
  }

  isLimited(name: Limited): boolean {
    return this.checks.has(name);
  }
}

/** The part of a request that the plugin reads: what is counted need not be an HTTP request. */
interface Subject {
  readonly key: string;
  readonly routeOptions: { readonly config: object };
}
