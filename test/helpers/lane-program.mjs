import { Logger } from '@nestjs/common';
import { readEnvironment } from '../../dist/config/config.module.js';
import { resolveSettings } from '../../dist/config/resolve-settings.js';
import { createApp } from '../../dist/create-app.js';

// Started by server-lane.ts: a message with an environment starts a server, 'close' closes it.
let app = null;
/** The log itself, which is written later than it is said: so what is said here stays in its order. */
const logger = new Logger('Lane');
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
  logger.log(`Listening on ${await app.getUrl()}`);
}

async function close() {
  await app.close();
  logger.log('Closed');
}
