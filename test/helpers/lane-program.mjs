import { writeSync } from 'node:fs';
import { readEnvironment } from '../../dist/config/config.module.js';
import { resolveSettings } from '../../dist/config/resolve-settings.js';
import { createApp } from '../../dist/create-app.js';

// Started by server-lane.ts: a message with an environment starts a server, 'close' closes it.
let app = null;
/** Behind the log: `process.stdout` would make the pipe one that the log has to wait for. */
const STDOUT = 1;
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => {
  (message === 'close' ? close() : open(message)).catch((error) => {
    process.stderr.write(`${error.message}\n`, () => process.exit(1));
  });
});

async function open(environment) {
  for (const name of Object.keys(process.env)) {
    delete process.env[name];
  }
  Object.assign(process.env, environment);
  const { settings } = resolveSettings(readEnvironment());
  app = await createApp(settings);
  await app.listen(settings.http.port, settings.http.host);
  writeSync(STDOUT, `Listening on ${await app.getUrl()}\n`);
}

async function close() {
  await app.close();
  writeSync(STDOUT, 'Closed\n');
}
