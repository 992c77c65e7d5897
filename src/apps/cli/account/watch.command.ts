import type {
  UpdateHandlers,
  UpdateOptions,
} from '../../../packages/client/updates/connect-updates.js';
import { isProxyConfigured } from '../../../packages/notify/environment.js';
import { command } from '../command.js';
import { SERVER } from '../options.js';
import { formatTime, type Output } from '../output.js';
import { ServerUnreachable } from '../../../packages/client/api/problem.js';

export const watch = command({
  name: 'watch',
  description: "print the account's live updates until Ctrl-C, reconnecting when needed",
  options: [SERVER],
  examples: ['gatehouse watch', 'gatehouse watch --json'],
  async run(context) {
    const { requireToken } = await import('./current-session.js');
    const { server: serverUrl, token } = await requireToken(context);
    const { connectUpdates } = await import('../../../packages/client/updates/connect-updates.js');
    const transports = await transportsTo(serverUrl);
    await new Promise<void>((resolve, reject) => {
      const handlers = printing(serverUrl, context.output, (problem) => {
        connection.close();
        reject(problem ?? new ServerUnreachable(serverUrl, 'no connection for updates'));
      });
      const connection = connectUpdates({ serverUrl, token, transports }, handlers);
      const end = (): void => {
        connection.close();
        resolve();
      };
      process.once('SIGINT', end);
      process.once('SIGTERM', end);
      context.output.onUnread(end);
    });
  },
});

/** Socket.IO itself connects directly in Node. To an http address that is right: proxies forward no WebSocket there. */
async function transportsTo(serverUrl: string): Promise<UpdateOptions['transports']> {
  if (!serverUrl.startsWith('https:') || !isProxyConfigured()) {
    return undefined;
  }
  const { Fetch, WebSocket } = await import('socket.io-client');
  return [WebSocket, Fetch];
}

/** @param fail ends the command: the server refused, or (null) the first attempt got no answer */
function printing(
  server: string,
  output: Output,
  fail: (problem: Error | null) => void,
): UpdateHandlers {
  let state: 'new' | 'connected' | 'waiting' = 'new';
  return {
    onConnected: () => {
      output.note(
        state === 'new'
          ? `Connected to ${server}; waiting for updates. Ctrl-C ends this.`
          : `Connected to ${server} again.`,
      );
      state = 'connected';
    },
    onUpdate: (update) => {
      const { seq, createdAt, body } = update;
      output.result(update, `${formatTime(createdAt)}  #${seq}  ${body.t}`);
    },
    onGap: ({ from, to }) => output.note(`${to - from + 1} update(s) were missed.`),
    onWaiting: (problem) => {
      if (state === 'new' && problem === null) {
        fail(null);
      } else if (state === 'connected') {
        output.note(`The connection to ${server} ended; connecting again.`);
        state = 'waiting';
      } else if (problem !== null) {
        output.note(`${problem.message} Trying again.`);
      }
    },
    onStopped: fail,
  };
}
