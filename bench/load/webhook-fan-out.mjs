import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';

const { urls, dist } = JSON.parse(process.argv[2]);
const TEXT = 'Command: npm run build\nWhy: To see whether it compiles';

/** One event to every channel. */
const fanOut = dist === undefined ? limit() : await library();

/** From the JSON of the event to the outcomes. */
async function library() {
  const { notify, readEvent, WebhookSender } = await import(
    pathToFileURL(join(dist, 'packages/notify/index.js')).href
  );
  const signingSecret = 'a secret of the bench';
  const settings = {
    notificationChannelsV1: urls.map((url, index) => ({
      id: `channel-${index}`,
      kind: 'webhook',
      url,
      signingSecret,
    })),
  };
  const push = { attempt: () => Promise.resolve([]) };
  const webhooks = new WebhookSender({ privateHosts: ['127.0.0.1'] });
  return async () => {
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
    const { outcomes } = await notify(event, { settings, tokens: [] }, { push, webhooks });
    const failed = outcomes.find(({ state, target }) => target.id !== null && state !== 'sent');
    if (failed !== undefined) {
      throw new Error(`not sent: ${JSON.stringify(failed)}`);
    }
  };
}

/** The bodies of the library, ready made; no plan, no signature, no outcome. */
function limit() {
  const dispatcher = new Agent();
  const headers = { 'content-type': 'application/json', 'webhook-id': randomUUID() };
  const body = JSON.stringify({
    channelId: 'channel-100',
    createdAt: Date.now(),
    topic: 'permission_request',
    content: { title: 'Permission needed: Fix the build', body: TEXT },
    session: { sessionId: 'ses-1', title: 'Fix the build' },
    request: { requestId: 'req-1', kind: 'permission', toolName: 'Bash', toolDetails: TEXT },
    metadata: { eventId: randomUUID(), serverUrl: 'https://gate.example' },
  });
  const post = async (url) => {
    const answer = await request(url, { dispatcher, method: 'POST', headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 204) {
      throw new Error(`answered ${answer.statusCode}`);
    }
  };
  return () => Promise.all(urls.map(post));
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
