import type { AdminAuditQuery } from '../../../client/api/admin-client.js';
import type { Filter } from '../route.js';

/** What the address of the list asks the server for. */
export function auditQuery({ kind, actor, accountId, since, until }: Filter): AdminAuditQuery {
  return {
    // The server refuses a kind that it does not know, and says so.
    ...(kind !== undefined && { kind: kind as AdminAuditQuery['kind'] }),
    ...(actor !== undefined && { actor }),
    ...(accountId !== undefined && { accountId }),
    ...(since !== undefined && { since: Number(since) }),
    ...(until !== undefined && { until: Number(until) }),
  };
}

/** @param local of a field for date and time, in the zone of the browser @returns Unix milliseconds, or '' */
export function readTime(local: string): string {
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? '' : String(time);
}

/** The reverse of {@link readTime}. */
export function writeTime(milliseconds: string | undefined): string {
  const time = new Date(Number(milliseconds ?? Number.NaN));
  if (Number.isNaN(time.getTime())) {
    return '';
  }
  const pad = (value: number) => String(value).padStart(2, '0');
  const day = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join('-');
  return `${day}T${pad(time.getHours())}:${pad(time.getMinutes())}`;
}
