import { Injectable } from '@nestjs/common';
import { DatabaseService } from '../../database.service.js';
import { IS_WAITING } from './security-event.repository.js';

/** The state of the log of one backend. */
export interface EventStatistics {
  readonly resourceServer: string;
  readonly events: number;
  readonly streams: number;
  /** 0 = every stream has acknowledged every event. */
  readonly oldestWaitingSeconds: number;
}

const READ = `
  SELECT "backend"."id" AS "resourceServer",
    (SELECT count(*)::int FROM "security_event" WHERE "resource_server" = "backend"."id") AS "events",
    (SELECT count(*)::int FROM "event_stream" WHERE "resource_server" = "backend"."id") AS "streams",
    COALESCE((SELECT extract(epoch FROM now() - min("event"."at"))::float8
      FROM "event_stream" AS "stream" JOIN "security_event" AS "event" ON ${IS_WAITING}
      WHERE "stream"."resource_server" = "backend"."id"), 0) AS "oldestWaitingSeconds"
  FROM unnest($1::text[]) AS "backend" ("id")`;

@Injectable()
export class EventStatisticsRepository {
  constructor(private readonly database: DatabaseService) {}

  read(resourceServers: readonly string[]): Promise<EventStatistics[]> {
    return this.database.query<EventStatistics>(READ, [resourceServers]);
  }
}
