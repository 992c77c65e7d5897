import type { UpdateHandlers } from '../../../packages/client/updates/connect-updates.js';
import { command } from '../command.js';
import { SERVER } from '../options.js';
import { formatTime, type Output } from '../output.js';

export const watch = command({
  name: 'watch',
  description: "print the account's live updates until Ctrl-C, reconnecting when needed",
  options: [SERVER],
  examples: ['gatehouse watch', 'gatehouse watch --json'],
  async run(context) {
    const { requireToken } = await import('./current-session.js');
    const { server: serverUrl, token } = await requireToken(context);
    const { ServerUnreachable } = await import('../../../packages/client/api/problem.js');
    const { connectUpdates } = await import('../../../packages/client/updates/connect-updates.js');
    await new Promise<void>((resolve, reject) => {
      const handlers = printing(serverUrl, context.output, (problem) => {
        connection.close();
        reject(problem ?? new ServerUnreachable(serverUrl, 'no connection for updates'));
      });
      const connection = connectUpdates({ serverUrl, token }, handlers);
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
