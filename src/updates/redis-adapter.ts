import { createAdapter } from '@socket.io/redis-streams-adapter';
import type { Redis } from 'ioredis';
import type { ClusterAdapter } from './updates.adapter.js';

/** Carries updates between replicas. */
export function redisAdapter(client: Redis): ClusterAdapter {
  return createAdapter(client) as ClusterAdapter;
}
