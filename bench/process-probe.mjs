/**
 * Loaded before a measured server with `--import`, so that the limit and Gatehouse are asked the
 * same way: a message collects garbage and is answered with what is then in use.
 */
import { setTimeout as sleep } from 'node:timers/promises';

process.on('message', async (message) => {
  if (message === 'memory') {
    for (let pass = 0; pass < 3; pass += 1) {
      globalThis.gc();
      await sleep(100);
    }
    process.send(process.memoryUsage());
  }
});
process.channel.unref();
