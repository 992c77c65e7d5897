import { Agent, get } from 'node:http';
import { setInterval } from 'node:timers';

const CONNECTIONS = 10;

const samples = [];

process.on('message', (message) => {
  if ('perSecond' in message) {
    start(message);
  } else {
    process.send(summary(message));
  }
});

/** Asks at a steady rate, whether or not the answers come: a slow one delays no other. */
function start({ port, path, token, perSecond }) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const headers = { authorization: `Bearer ${token}` };
  setInterval(() => {
    const at = Date.now();
    const startedAt = performance.now();
    const end = (status) => samples.push({ at, status, ms: performance.now() - startedAt });
    const request = get({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
      response.resume();
      // The time of a new connection is not the request's.
      response.once('end', () => request.reusedSocket && end(response.statusCode));
    });
    request.once('error', () => end(0));
  }, 1000 / perSecond);
}

/** Summarises the requests sent between two times in Unix milliseconds. */
function summary({ from, to }) {
  const within = samples.filter(({ at }) => at >= from && at <= to);
  const times = within.map(({ ms }) => ms).sort((one, other) => one - other);
  const of = (isCounted) => within.filter(({ status }) => isCounted(status)).length;
  return {
    count: times.length,
    p99Ms: times[Math.floor(times.length * 0.99)],
    refused: of((status) => status === 503),
    failed: of((status) => status !== 200 && status !== 503),
  };
}
