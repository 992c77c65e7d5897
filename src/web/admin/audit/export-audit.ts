import type { AdminAuditQuery } from '../../../client/api/admin-client.js';
import { writeQuery } from '../../../client/api/query.js';
import { GatehouseProblem, readProblem, ServerUnreachable } from '../../../client/api/problem.js';
import { serverUrl } from '../../server.js';

const LINES = 'application/x-ndjson';

/**
 * All events that the list pages through, as lines of JSON.
 *
 * @param token undefined = what the browser sends by itself
 */
export async function exportAudit(
  token: string | undefined,
  query: AdminAuditQuery,
): Promise<Blob> {
  const url = `${serverUrl()}/admin/v1/audit${writeQuery(query)}`;
  const headers = {
    accept: LINES,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(url, { headers, redirect: 'manual' }).catch((error: unknown) => {
    throw new ServerUnreachable(serverUrl(), 'the connection failed', { cause: error });
  });
  if (response.ok && response.headers.get('content-type')?.startsWith(LINES) === true) {
    return response.blob();
  }
  const { status } = response;
  const message = `The server answered ${status}, and not as a Gatehouse server does.`;
  throw (
    readProblem(await response.json().catch(() => null)) ??
    new GatehouseProblem({ status, code: 'unexpected-answer', message })
  );
}
