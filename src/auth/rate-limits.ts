import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import rateLimit from '@fastify/rate-limit';
import {
  Inject,
  Injectable,
  type CanActivate,
  type ExecutionContext,
  type FactoryProvider,
} from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressGroup } from '../common/network/addresses.js';
import { AppError } from '../common/errors.js';
import { trustOf } from '../common/network/trusted-proxies.js';
import { httpConfig, rateLimitsConfig, type RateLimitSettings } from '../config/http.config.js';
import { INVITATION_TRIES } from '../policy/flow/invitation-code.js';
import { USER_CODE_LOOKUPS } from '../policy/flow/user-code.js';
import { redisRateStore } from '../storage/redis/redis-rate-store.js';
import { REDIS, type RedisConnections } from '../storage/redis/redis-connections.js';

type Limited =
  | keyof Omit<RateLimitSettings, 'perIp'>
  | 'deviceLookupPerAccount'
  | 'deviceLookupPerIp'
  | 'invitationPerIp'
  | 'invitationTotal';

type Check = ReturnType<FastifyInstance['createRateLimit']>;

const MINUTE_MS = 60_000;
const MAX_COUNTED_ADDRESSES = 50_000;

/**
 * Counts the requests of accounts and address groups. The counts live in the store of
 * `@fastify/rate-limit`: memory, or Redis where several replicas share it.
 */
export class RateLimits {
  constructor(private readonly checks: ReadonlyMap<Limited, Check>) {}

  /**
   * Counts one action of `key`: an account id, or an address, which counts for its group.
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

/** Anyone can cause the work of a login: it has a limit of its own, per address. */
@Injectable()
export class LoginRateGuard implements CanActivate {
  constructor(private readonly limits: RateLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.count('loginPerIp', context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
  }
}

/**
 * The address a request comes from: the peer's, or what a trusted proxy reports. HTTP and the
 * handshake use the same rule; a header from any other peer is ignored (ASVS 4.1.3).
 */
@Injectable()
export class ClientAddress {
  /** Whether a proxy at this address is trusted. */
  readonly isTrusted: (address: string, hop: number) => boolean;

  constructor(@Inject(httpConfig.KEY) http: ConfigType<typeof httpConfig>) {
    this.isTrusted = trustOf(http.trustedProxies);
  }

  of(request: IncomingMessage): string {
    return proxyAddress(request, this.isTrusted);
  }
}

/** The part of a request that the plugin reads: what is counted need not be an HTTP request. */
interface Subject {
  readonly key: string;
  readonly routeOptions: { readonly config: object };
}

/** Registers the plugin with the server when it is injected, which is before any route is added. */
export const rateLimits: FactoryProvider<RateLimits> = {
  provide: RateLimits,
  inject: [HttpAdapterHost, rateLimitsConfig.KEY, REDIS],
  useFactory: async (
    { httpAdapter }: HttpAdapterHost<FastifyAdapter>,
    config: RateLimitSettings,
    redis: RedisConnections | null,
  ) => {
    const server = httpAdapter.getInstance<FastifyInstance>();
    await limitAddresses(server, config.perIp, redis);
    return new RateLimits(checksOn(server, config));
  },
};

/** Limits the requests of each address group, on every route that does not opt out. */
async function limitAddresses(
  server: FastifyInstance,
  perIp: number,
  redis: RedisConnections | null,
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
  { perAccount, loginPerIp, handshakePerIp }: RateLimitSettings,
): Map<Limited, Check> {
  // 0 = no limit.
  const limits: Readonly<Record<Limited, { max: number; timeWindow: number }>> = {
    perAccount: { max: perAccount, timeWindow: MINUTE_MS },
    loginPerIp: { max: loginPerIp, timeWindow: MINUTE_MS },
    handshakePerIp: { max: handshakePerIp, timeWindow: MINUTE_MS },
    deviceLookupPerAccount: USER_CODE_LOOKUPS,
    deviceLookupPerIp: USER_CODE_LOOKUPS,
    invitationPerIp: INVITATION_TRIES.perAddress,
    invitationTotal: INVITATION_TRIES.all,
  };
  const active = Object.entries(limits).filter(([, { max }]) => max > 0);
  return new Map(
    active.map(([name, limit]) => {
      const keyGenerator = (subject: unknown): string => `${name}:${(subject as Subject).key}`;
      return [name as Limited, server.createRateLimit({ ...limit, keyGenerator })];
    }),
  );
}
