import type { Server } from '../fixtures/programs/server-fixture.js';

/**
 * Returns the lines of a server since its database was ready, as level and message, without the audit trail. A database
 * may be ready before the server says that it listens.
 */
export function linesAfterStart(server: Server): string[] {
  const [, lines = ''] = server.logs().split('The database is ready.');
  return [...lines.matchAll(/"level":"(\w+)".*?"msg":"([^"]*)"/g)]
    .filter(([, , message = '']) => message !== 'audit' && !message.startsWith('Listening on '))
    .map(([, level, message]) => `${level} ${message}`);
}
