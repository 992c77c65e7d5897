import rateLimit from '@fastify/rate-limit';
import type { FactoryProvider } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressGroup } from '../../common/addresses.js';
import { AppError, isUnavailable } from '../../common/errors.js';
import { rateLimitsConfig, type RateLimitSettings } from '../config/http.config.js';
import { DEVICE_APPROVALS } from '../../core/policy/flow/code-limits.js';
import { PROGRAM_APPROVALS } from '../../core/policy/programs/programs.js';
import { shareOfSession } from './session-share.js';
import { redisRateStore } from '../storage/redis/redis-rate-store.js';
import { REDIS, type RedisService } from '../storage/redis/redis.service.js';

type Limited =
  | keyof Omit<RateLimitSettings, 'perIp'>
  | 'perSession'
  | 'deviceApprovalPerAccount'
  | 'programApprovalPerAccount'
  | 'scimPerProvider'
  | 'tokenPerIp'
  | 'refusalPerIp';

type Check = ReturnType<FastifyInstance['createRateLimit']>;

const MINUTE_MS = 60_000;
/** A directory sends each person of its first synchronization by one request. */
const SCIM_REQUESTS = { max: 20_000, timeWindow: MINUTE_MS };
const MAX_COUNTED_ADDRESSES = 50_000;

/** Counts live in the store of `@fastify/rate-limit`: memory, or Redis for several replicas. */
export class RateLimitService {
  constructor(private readonly checks: ReadonlyMap<Limited, Check>) {}

  /**
   * @param key an account id, or an address, which counts for its group
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

  /**
   * Counts a request of a session and of its account. One that the session has no share for counts for the session
   * alone, so that a thief of its token leaves the owner's other sessions able to end it.
   *
   * @throws AppError `rate-limited`
   */
  async countCaller({ accountId, sessionId }: SessionKey): Promise<void> {
    await this.count('perSession', sessionId);
    await this.count('perAccount', accountId);
  }

  /**
   * Counts only refusals of an address, for routes where good callers share it.
   * @throws AppError `rate-limited` in place of a refusal beyond the limit
   */
  async countRefusals<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && !isUnavailable(error)) {
        await this.count('refusalPerIp', address);
      }
      throw error;
    }
  }

  isLimited(name: Limited): boolean {
    return this.checks.has(name);
  }
}

interface SessionKey {
  readonly accountId: string;
  readonly sessionId: string;
}

/** The part of a request that the plugin reads. Counted actions need not be HTTP requests. */
interface Subject {
  readonly key: string;
  readonly routeOptions: { readonly config: object };
}

/** Registers the plugin with the server on injection, before any route is added. */
export const rateLimitProvider: FactoryProvider<RateLimitService> = {
  provide: RateLimitService,
  inject: [HttpAdapterHost, rateLimitsConfig.KEY, REDIS],
  useFactory: async (
    { httpAdapter }: HttpAdapterHost<FastifyAdapter>,
    config: RateLimitSettings,
    redis: RedisService | null,
  ) => {
    const server = httpAdapter.getInstance<FastifyInstance>();
    await limitAddresses(server, config.perIp, redis);
    return new RateLimitService(checksOn(server, config));
  },
};

/** Limits the requests of each address group, on every route that does not opt out. */
async function limitAddresses(
  server: FastifyInstance,
  perIp: number,
  redis: RedisService | null,
): Promise<void> {
  await server.register(rateLimit, {
    global: perIp > 0,
    max: perIp,
    timeWindow: MINUTE_MS,
    cache: MAX_COUNTED_ADDRESSES,
    keyGenerator: ({ ip }) => addressGroup(ip),
    ...(redis && { store: redisRateStore(redis, MAX_COUNTED_ADDRESSES) }),
    errorResponseBuilder: (_request, { ttl }) =>
      new AppError('rate-limited', { retryAfterSeconds: Math.ceil(ttl / 1000) }),
  });
}

function checksOn(
  server: FastifyInstance,
  { perIp, perAccount, loginPerIp, handshakePerIp, perResourceServer }: RateLimitSettings,
): Map<Limited, Check> {
  // 0 = no limit.
  const limits: Readonly<Record<Limited, { max: number; timeWindow: number }>> = {
    perAccount: { max: perAccount, timeWindow: MINUTE_MS },
    perSession: { max: shareOfSession(perAccount), timeWindow: MINUTE_MS },
    loginPerIp: { max: loginPerIp, timeWindow: MINUTE_MS },
    handshakePerIp: { max: handshakePerIp, timeWindow: MINUTE_MS },
    deviceApprovalPerAccount: DEVICE_APPROVALS,
    programApprovalPerAccount: PROGRAM_APPROVALS,
    perResourceServer: { max: perResourceServer, timeWindow: MINUTE_MS },
    tokenPerIp: { max: perIp, timeWindow: MINUTE_MS },
    refusalPerIp: { max: perIp, timeWindow: MINUTE_MS },
    scimPerProvider: SCIM_REQUESTS,
  };
  const active = Object.entries(limits).filter(([, { max }]) => max > 0);
  return new Map(
    active.map(([name, limit]) => {
      const keyGenerator = (subject: unknown): string => `${name}:${(subject as Subject).key}`;
      return [name as Limited, server.createRateLimit({ ...limit, keyGenerator })];
    }),
  );
}
