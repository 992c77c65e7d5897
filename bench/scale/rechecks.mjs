import { fillAccounts } from '../fill-accounts.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { drain, recheckEnvironment, startProvider } from './due-identities.mjs';
import { rowsOf } from './table.mjs';

const CONCURRENCY = [2, 10, 50];
const ACCOUNTS = 1000;
const PROVIDER_MS = 100;
const WARM_UP = 40;
/** So many that the second half is beyond what may be sent at once after a pause. */
const DUE = 400;

/** Re-checks a second of a whole server against one OpenID provider. */
export const group = {
  name: 'rechecks',
  run: async (context) => {
    await fillAccounts(context.databaseUrl, { to: ACCOUNTS });
    const provider = await startProvider(context, { delayMs: PROVIDER_MS });
    const measured = [];
    for (const concurrency of CONCURRENCY) {
      console.error(`  ${concurrency} at a time`);
      measured.push(await measure(context, provider, concurrency));
    }
    await provider.stop();
    return [
      {
        name: 'rechecks',
        of: 're-checks at a time (`AUTH_OFFBOARDING_CONCURRENCY`)',
        sizes: CONCURRENCY,
        rows: rowsOf(
          [
            ['re-checks', '/s'],
            ['CPU a re-check', 'µs'],
          ],
          measured,
        ),
        note: `The provider takes ${PROVIDER_MS} ms for a refresh; ${DUE} identities are due, and the second half is timed. AUTH_OFFBOARDING_CHECKS_PER_SECOND is off: what remains is the budget of requests to one upstream.`,
      },
    ];
  },
};

async function measure(context, provider, concurrency) {
  const env = recheckEnvironment(provider, { concurrency });
  const gatehouse = await startGatehouse(context, { env });
  await drain(context, gatehouse, WARM_UP);
  const { perSecond, cpuMs } = await drain(context, gatehouse, DUE);
  await gatehouse.stop();
  return [perSecond, (cpuMs * 1000) / DUE];
}
