import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { urls, dist } = JSON.parse(process.argv[2]);
const { notify, readEvent, WebhookSender } = await import(
  pathToFileURL(join(dist, 'packages/notify/index.js')).href
);

const settings = {
  notificationChannelsV1: urls.map((url, index) => ({
    id: `channel-${index}`,
    kind: 'webhook',
    url,
    signingSecret: 'a secret of the bench',
  })),
};
const noPush = { attempt: () => Promise.resolve([]) };
const webhooks = new WebhookSender({ privateHosts: ['127.0.0.1'] });

/** One event to every channel, from its JSON to the outcomes. */
async function fanOut() {
  const event = readEvent(
    {
      topic: 'permission_request',
      serverUrl: 'https://gate.example',
      session: { sessionId: 'ses-1', title: 'Fix the build' },
      request: {
        requestId: 'req-1',
        toolName: 'Bash',
        details: { command: 'npm run build', explanation: 'To see whether it compiles' },
      },
    },
    Date.now(),
  );
  const { outcomes } = await notify(event, { settings, tokens: [] }, { push: noPush, webhooks });
  const failed = outcomes.find(({ state, target }) => target.id !== null && state !== 'sent');
  if (failed !== undefined) {
    throw new Error(`not sent: ${JSON.stringify(failed)}`);
  }
}

process.on('message', async ({ seconds, deliveries }) => {
  const startedAt = performance.now();
  let posted = 0;
  const isDone = () =>
    deliveries === undefined
      ? performance.now() - startedAt >= seconds * 1000
      : posted >= deliveries;
  while (!isDone()) {
    await fanOut();
    posted += urls.length;
  }
  const perSecond = posted / ((performance.now() - startedAt) / 1000);
  // Only the memory is measured with a collection; the limit has none.
  if (deliveries !== undefined) {
    globalThis.gc();
  }
  process.send({ posted, perSecond });
});
process.send('ready');
