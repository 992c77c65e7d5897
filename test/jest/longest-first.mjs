import Sequencer from '@jest/test-sequencer';

/**
 * Specs that take longest. Jest knows durations only of earlier runs on the same machine, and a long spec that begins
 * last runs alone.
 */
const LONGEST = [
  'web/account/engines',
  'embedded/embedded-first-start',
  'histories/histories',
  'traces/traces',
  'web/account/screenshots',
  'web/account/kept-key',
  'web/account/push',
  'login/admission',
  'web/admin/screenshots',
  'web/admin/admin-console',
  'web/account/account-page',
  'health/shutdown-rolling',
  'packages/packages',
  'chart/chart',
  'chart/objects',
  'oauth/python-gate',
  'search/search',
];
/** Specs that mostly wait for what takes its time. Several at once would leave the processors idle. */
const WAITING = [
  'approvals/answers-off',
  'health/held-connections',
  'certificate/revocation',
  'admin/changed-rules',
  'certificate/revocation-path',
  'notify/killed',
  'storage/redis-failover',
  'offboarding/outage',
  'storage/cluster',
  'cli/devices',
  'web/account/devices',
  'offboarding/signal-streams',
  'notify/background',
  'http/abuse',
  'offboarding/provider-failures',
  'updates/limits',
  'guard/outages',
  'provider/issuer',
  'certificate/connections',
  'tracing/tracing',
  'provider/google',
  'oauth/signing-keys',
];
const BETWEEN_WAITING = 6;

/** Starts the longest specs first. The order changes nothing but the time of a run. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const named = (names) =>
      names.flatMap((name) => sorted.filter(({ path }) => path.includes(`/${name}.`)));
    const [waiting, longest] = [named(WAITING), named(LONGEST)];
    const busy = [...new Set([...longest, ...sorted])].filter((test) => !waiting.includes(test));
    const order = [];
    for (const [index, test] of busy.entries()) {
      order.push(...(index % BETWEEN_WAITING === 0 ? waiting.splice(0, 1) : []), test);
    }
    return [...order, ...waiting];
  }
}
