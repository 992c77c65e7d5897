import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { ERRORS, type ErrorCode } from '../../common/errors.js';
import { parseJson } from '../../common/parse-json.js';
import { operatorChannel } from '../storage/redis/redis-probe.js';
import { REDIS, type RedisService } from '../storage/redis/redis.service.js';
import { IdentityEvents, type AccessChange } from './identity.events.js';

/** Applies changes from the command line, received over Redis, and reports lost messages. */
@Injectable()
export class OperatorChangesService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Operator');
  private stop: (() => void) | null = null;

  constructor(
    private readonly events: IdentityEvents,
    @Inject(REDIS) private readonly redis: RedisService | null,
  ) {}

  onModuleInit(): void {
    if (this.redis !== null) {
      const channel = operatorChannel(this.redis.commands);
      this.stop = this.redis.subscribe(channel, (text) => this.receive(text));
      this.redis.losses.on('missed', () => this.events.emit('access-changes-missed'));
      this.redis.losses.on('dropped', () => this.events.emit('access-changes-dropped'));
    }
  }

  onApplicationShutdown(): void {
    this.stop?.();
  }

  private receive(text: string): void {
    const change = changeIn(text);
    if (change === 'due') {
      this.events.emit('identities-due');
    } else if (change === 'keys') {
      this.events.emit('signing-keys-rotated');
    } else if (change !== null) {
      // Every replica receives it from Redis, so it is not forwarded.
      this.events.receiveAccessChange(change);
      this.logger.log({ msg: 'access changed by an administrator', accountId: change.accountId });
    }
  }
}

function changeIn(text: string): AccessChange | 'due' | 'keys' | null {
  const { accountId, closes, isDue, areKeysRotated } = (parseJson(text) ?? {}) as Record<
    string,
    unknown
  >;
  if (isDue === true) {
    return 'due';
  }
  if (areKeysRotated === true) {
    return 'keys';
  }
  if (typeof accountId !== 'string') {
    return null;
  }
  const isCode = typeof closes === 'string' && Object.hasOwn(ERRORS, closes);
  return { accountId, ...(isCode && { closes: closes as ErrorCode }) };
}
