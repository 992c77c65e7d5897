import autocannon from 'autocannon';

// The first message starts the load, and is answered once it has begun; `stop` ends one that would last longer. Any other
// message is answered with the result.
let run;
let clients = 0;
const ended = new Promise((resolve, reject) => {
  process.once('message', ({ seconds, ...options }) => {
    const { requests } = options;
    // Each connection begins with another request: else all of them would wait for the rows of one account at a time.
    const setupClient = (client) => {
      const first = clients % requests.length;
      clients += 1;
      client.setRequests([...requests.slice(first), ...requests.slice(0, first)]);
    };
    run = autocannon({ ...options, duration: seconds, setupClient }, (error, result) =>
      error ? reject(error) : resolve(result),
    );
    run.once('start', () => process.send('started'));
    process.on('message', answer);
  });
});

async function answer(message) {
  if (message === 'stop') {
    run.stop();
  }
  const result = await ended;
  process.send({
    answered: result['2xx'],
    failed: result.non2xx + result.errors + result.timeouts,
    refused: result.statusCodeStats['503']?.count ?? 0,
    seconds: result.duration,
    p99Ms: result.latency.p99,
  });
}
