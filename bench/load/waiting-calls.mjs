/**
 * Calls of /v1/requests/:id?waitSeconds= in a process of their own. `{port, waits: [{id, token}]}` opens
 * them; each that comes without an answer is asked again at once, as clients do. `{answer: index}` has
 * that request answered, and replies with the milliseconds until its call came back.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:http';

const WAIT_SECONDS = 50;
const AT_ONCE = 100;
const polls = new Agent({ keepAlive: true, maxSockets: Infinity });
const answers = new Agent({ keepAlive: true });
let port = 0;
let waits = [];

process.on('message', async (message) => {
  if (message.waits !== undefined) {
    ({ port, waits } = message);
    for (let start = 0; start < waits.length; start += AT_ONCE) {
      await Promise.all(waits.slice(start, start + AT_ONCE).map(open));
    }
    process.send({ open: waits.length });
  } else {
    process.send({ ms: await answer(waits[message.answer]) });
  }
});

/** Resolves once the request is sent; the wait goes on. */
async function open(wait) {
  const sent = call(
    polls,
    'GET',
    `/v1/requests/${wait.id}?waitSeconds=${WAIT_SECONDS}`,
    wait.token,
  );
  wait.answered = bodyOf(sent).then((body) =>
    body.answers.length > 0 ? performance.now() : open(wait).then(() => wait.answered),
  );
  sent.end();
  await once(sent, 'finish');
}

async function answer(wait) {
  const begun = performance.now();
  const sent = call(answers, 'POST', `/v1/requests/${wait.id}/answer`, wait.token);
  sent.setHeader('content-type', 'application/json');
  sent.end(JSON.stringify({ sealed: `1.${'a'.repeat(400)}` }));
  const [, woken] = await Promise.all([bodyOf(sent), wait.answered]);
  return woken - begun;
}

function call(agent, method, path, token) {
  const headers = { authorization: `Bearer ${token}` };
  return request({ agent, host: '127.0.0.1', port, method, path, headers });
}

/** @throws on any answer that is not a success */
async function bodyOf(sent) {
  const [response] = await once(sent, 'response');
  const parts = await response.toArray();
  const text = Buffer.concat(parts).toString();
  if (response.statusCode !== 200) {
    throw new Error(`${sent.method} ${sent.path} was answered ${response.statusCode}: ${text}`);
  }
  return JSON.parse(text);
}
