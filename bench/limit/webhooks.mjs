import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';

const { urls } = JSON.parse(process.argv[2]);
const dispatcher = new Agent();
const body = Buffer.from(JSON.stringify(bodyOf()));
const headers = { 'content-type': 'application/json', 'webhook-id': randomUUID() };

/** The bodies of the library, ready made; no plan, no signature, no outcome. */
async function fanOut() {
  await Promise.all(
    urls.map(async (url) => {
      const answer = await request(url, { dispatcher, method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 204) {
        throw new Error(`answered ${answer.statusCode}`);
      }
    }),
  );
}

process.on('message', async ({ seconds }) => {
  const startedAt = performance.now();
  let posted = 0;
  while (performance.now() - startedAt < seconds * 1000) {
    await fanOut();
    posted += urls.length;
  }
  process.send({ posted, perSecond: posted / ((performance.now() - startedAt) / 1000) });
});
process.send('ready');

function bodyOf() {
  const text = 'Command: npm run build\nWhy: To see whether it compiles';
  return {
    channelId: 'channel-100',
    createdAt: Date.now(),
    topic: 'permission_request',
    content: { title: 'Permission needed: Fix the build', body: text },
    session: { sessionId: 'ses-1', title: 'Fix the build' },
    request: { requestId: 'req-1', kind: 'permission', toolName: 'Bash', toolDetails: text },
    metadata: { eventId: randomUUID(), serverUrl: 'https://gate.example' },
  };
}
