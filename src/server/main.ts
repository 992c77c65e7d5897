import { createHook } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { listenOn } from './network/listen-host.js';
import { listenWidely } from './network/listening-sockets.js';
import { withAllProblems } from './check-configuration.js';
import { readEnvironment } from './config/config.module.js';
import { ConfigurationError } from './config/environment/configuration-error.js';
import { resolveSettings, type ResolvedConfiguration } from './config/resolve-settings.js';
import { tracesWanted, type TracesWanted } from './config/environment/tracing-environment.js';
import { createApp } from './create-app.js';
import { logSettings } from './log-settings.js';
import { StorageLifecycleService } from './storage/storage-lifecycle.service.js';

/** `EX_CONFIG` of sysexits.h: the operator has to correct the configuration. */
const EXIT_CONFIGURATION = 78;
const held: object[] = [];

void main();

async function main(): Promise<void> {
  holdTick();
  const logWarnings = keepWarnings();
  const environment = readEnvironment();
  try {
    await serve(resolveSettings(environment), tracesWanted(environment), logWarnings);
  } catch (error) {
    if (error instanceof ConfigurationError) {
      const { message } = await withAllProblems(error, environment);
      process.stderr.write(`${message}\n`);
      process.exit(EXIT_CONFIGURATION);
    }
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/**
 * V8 in Node 26 only makes the objects of `process.nextTick` fast while one of them survives its first collection of the
 * old space, which falls into the start. Otherwise a tenth of a short request is spent on them.
 */
function holdTick(): void {
  const hook = createHook({ init: (_id, _type, _trigger, tick) => void held.push(tick) });
  hook.enable();
  process.nextTick(() => undefined);
  hook.disable();
}

type LogWarnings = (logger: Logger) => void;

/** Warnings of Node and of libraries are kept for the log, whose lines programs read. */
function keepWarnings(): LogWarnings {
  const kept: Error[] = [];
  let log = (warning: Error): unknown => kept.push(warning);
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log(warning));
  return (logger) => {
    log = ({ name, message }) => logger.warn(`${name}: ${message}`);
    kept.forEach(log);
  };
}

async function serve(
  resolved: ResolvedConfiguration,
  traces: TracesWanted,
  logWarnings: LogWarnings,
): Promise<void> {
  const { settings } = resolved;
  const stopTracing = traces.isOn ? await startTraces() : null;
  const app = await createApp(settings);
  const logger = new Logger('Gatehouse');
  logWarnings(logger);
  logSettings(resolved, logger);
  if (traces.warning !== null) {
    logger.warn(traces.warning);
  }
  const stop = async (): Promise<void> => {
    await app.close();
    await stopTracing?.();
  };
  drainOnSignal(stop, settings.http.shutdownGraceMs, logger);
  const { port, host } = settings.http;
  await listenOn({ port, host }, { port: 'PORT', host: 'HOST' }, (address) =>
    listenWidely(app.getHttpServer(), address, (options) => app.listen(options)),
  );
  const url = await app.getUrl();
  logger.log(`Listening on ${url}`);
  const storage = app.get(StorageLifecycleService, { strict: false });
  await storage.whenOpened();
  if (storage.state === 'ready') {
    const { publicUrl, accountPageEnabled } = settings.http;
    logger.log(`Ready. Open ${publicUrl ?? url}${accountPageEnabled ? '/app' : ''}`);
  }
}

/** A server without traces never loads the packages that write them. */
async function startTraces(): Promise<() => Promise<void>> {
  const { startTracing } = await import('./tracing/start-tracing.js');
  return startTracing();
}

/** The first signal drains; the second, of any kind, ends the process at once. */
function drainOnSignal(stop: () => Promise<void>, graceMs: number, logger: Logger): void {
  let isDraining = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isDraining) {
      process.exit(1);
    }
    isDraining = true;
    logger.log(`${signal}: draining`);
    setTimeout(() => {
      logger.warn('Not everything was finished within SERVICE_SHUTDOWN_GRACE_SECONDS.');
      process.exit(1);
    }, graceMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error(error);
        process.exit(1);
      },
    );
  };
  // A terminal that closes sends SIGHUP.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const earlier = process.listeners(signal);
    process.on(signal, onSignal);
    // Not before: a signal that has arrived is lost with its last listener.
    earlier.forEach((listener) => process.off(signal, listener));
  }
}
