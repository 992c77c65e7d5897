import { io } from 'socket.io-client';
import type { CliContext } from '../context.js';
import { requireSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { UpdateWatch } from '../update-watch.js';

/** Prints the account's updates until it is interrupted or refused. */
export async function run(context: CliContext): Promise<number> {
  const { session } = await requireSession(context);
  const { origin, pathname } = new URL(session.server);
  const socket = io(origin, {
    path: `${pathname.replace(/\/$/, '')}/v1/updates`,
    auth: { token: session.token },
    // Polling only for servers behind a proxy that lets nothing else through.
    transports: ['websocket', 'polling'],
    tryAllTransports: true,
    autoConnect: false,
  });
  const watch = new UpdateWatch(socket, session.server, context.output);
  const stop = (): void => watch.stop();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    await watch.untilStopped();
  } finally {
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
  }
  return EXIT.ok;
}
