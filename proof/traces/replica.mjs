import { openSync, readSync } from 'node:fs';
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { IdentityEvents } from '../../dist/server/auth/identity.events.js';
import { Clock } from '../../dist/common/runtime/clock.js';
import { RuntimeModule } from '../../dist/common/runtime/runtime.module.js';
import { readEnvironment } from '../../dist/server/config/config.module.js';
import { resolveSettings } from '../../dist/server/config/resolve-settings.js';
import { createApp } from '../../dist/server/create-app.js';
import { ResourceJudgementJob } from '../../dist/server/event-streams/resource-judgement.job.js';
import { ProgramJudgementJob } from '../../dist/server/programs/ends/program-judgement.job.js';
import { ConnectionSweepService } from '../../dist/server/updates/connection-sweep.service.js';
import { LiveConnectionsService } from '../../dist/server/updates/live-connections.service.js';

// Started by driven-replica.ts: the server as it is built, whose clock and periodic work its parent drives.

/** Real time passes, but so slowly that it does not change what a step of a trace sees. */
const SLOWNESS = 50;

/** The parent writes the time of both clocks to a file, so that they go on while this process is stopped. */
class DrivenClock extends Clock {
  /** The monotonic clock, how far the wall clock is ahead of it, and when the first of all replicas began. */
  #written = new Float64Array(3);
  #file = openSync(process.env.GATEHOUSE_PROOF_CLOCK, 'r');

  now() {
    return this.elapsed() + this.#written[1];
  }

  elapsed() {
    readSync(this.#file, this.#written, { position: 0 });
    const [elapsed, , beganMs] = this.#written;
    return elapsed + (Number(process.hrtime.bigint()) / 1e6 - beganMs) / SLOWNESS;
  }
}

const clock = new DrivenClock();
const providers = Reflect.getMetadata('providers', RuntimeModule);
Reflect.defineMetadata(
  'providers',
  providers.map((one) => (one === Clock ? { provide: Clock, useValue: clock } : one)),
  RuntimeModule,
);

process.on('disconnect', () => process.exit(0));
const { settings } = resolveSettings(readEnvironment());
const app = await createApp(settings);
await app.listen(settings.http.port, settings.http.host);
const find = (service) => app.get(service, { strict: false });
const registry = find(SchedulerRegistry);
registry.getIntervals().forEach((name) => registry.deleteInterval(name));
/** The accounts of changes that this replica handled. */
const changed = new Set();
find(IdentityEvents).on('access-changed', ({ accountId }) => changed.add(accountId));

const ORDERS = {
  now: () => clock.now(),
  sweep: () => find(ConnectionSweepService).sweep(),
  /** Waits for the check that a message began. */
  settle: () => find(ConnectionSweepService).running,
  /** Waits for the runs that a change of an identity began. */
  judge: () =>
    Promise.all([ResourceJudgementJob, ProgramJudgementJob].map((job) => find(job).run())),
  publish: (accountId) =>
    find(LiveConnectionsService).publish(accountId, 1, { t: 'identities-changed' }),
  announce: (accountId) => {
    find(IdentityEvents).emit('access-change-announced', { accountId });
  },
  hasHandled: (accountId) => Number(changed.has(accountId)),
};

process.on('message', async ({ id, order, value }) => {
  const result = await ORDERS[order](value);
  process.send({ id, result: typeof result === 'number' ? result : null });
});
new Logger('Replica').log(`Listening on ${await app.getUrl()}`);
