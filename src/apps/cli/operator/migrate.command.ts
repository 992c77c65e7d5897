import { LogOnce } from '../../../common/log-once.js';
import { Timers } from '../../../common/runtime/timers.js';
import { command } from '../command.js';
import { EXIT } from '../cli-error.js';

export const migrate = command({
  name: 'migrate',
  description: "bring the database of DATABASE_URL to this version's schema",
  options: [
    ['--check', 'run nothing; exit with 3 when migrations are pending'],
    ['--plan', 'run nothing; print what would run'],
  ],
  examples: ['gatehouse migrate', 'gatehouse migrate --check'],
  async run({ environment, options, output }) {
    const { resolveSettings } = await import('../../../server/config/resolve-settings.js');
    const { storage } = resolveSettings(environment).settings;
    const { databaseUrl: url, caBundle } = storage;
    if (url === null) {
      output.result(
        { embedded: true, pending: [] },
        `No DATABASE_URL: the embedded database in ${storage.dataDir} is migrated whenever the server starts.`,
      );
      return EXIT.ok;
    }
    const { mapErrors, withDataSource } = await import('./database.js');
    const { pendingMigrations, runMigrations } =
      await import('../../../server/storage/data-source.js');
    if (options.check !== true && options.plan !== true) {
      const waiting = new LogOnce((name) =>
        output.note(
          `${name} waits for a lock: a transaction, such as that of a backup, uses the table. Servers go on meanwhile.`,
        ),
      );
      const ran = await mapErrors(
        runMigrations({ url, caBundle }, storage, new Timers(), (name) => waiting.write(name)),
      );
      const text = ran.map((name) => `Ran ${name}`).join('\n');
      output.result({ embedded: false, ran }, text || 'Nothing to do: the schema matches.');
      return EXIT.ok;
    }
    const pending = await mapErrors(
      withDataSource({ url, caBundle }, { storage }, pendingMigrations),
    );
    const lines = [...pending.map((name) => `Pending ${name}`), 'Run: gatehouse migrate'];
    const text =
      pending.length === 0 ? 'Nothing is pending: the schema matches.' : lines.join('\n');
    output.result({ embedded: false, pending }, text);
    return options.check === true && pending.length > 0 ? EXIT.migrationsPending : EXIT.ok;
  },
});
