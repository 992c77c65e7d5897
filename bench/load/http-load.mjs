import autocannon from 'autocannon';

process.once('message', ({ url, connections, seconds, requests }) => {
  const run = autocannon({ url, connections, duration: seconds, requests }, (error, result) => {
    if (error) {
      throw error;
    }
    process.send({
      answered: result['2xx'],
      failed: result.non2xx + result.errors + result.timeouts,
      seconds: result.duration,
      p99Ms: result.latency.p99,
    });
  });
  run.once('start', () => process.send('started'));
});
