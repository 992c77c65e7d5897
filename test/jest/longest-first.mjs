import Sequencer from '@jest/test-sequencer';

/**
 * Specs that take longest. Jest knows durations only of earlier runs on the same machine, and a long spec that begins
 * last runs alone.
 */
const LONGEST = [
  'web/account/engines',
  'embedded/embedded-first-start',
  'notify/spool',
  'proof/traces/traces',
  'web/account/devices',
  'web/account/push',
  'web/admin/screenshots',
  'packages/packages',
  'login/admission',
  'certificate/proxies',
  'cli/devices',
  'histories/histories',
  'web/admin/admin-console',
  'provider/issuer',
  'web/account/kept-key',
  'cli/doctor',
  'chart/chart',
  'chart/objects',
  'push/web-push',
  'oauth/python-gate',
  'search/search',
];
/** Specs that mostly wait for what takes its time. Several at once would leave the processors idle. */
const WAITING = [
  'requests/answers-off',
  'health/held-connections',
  'certificate/revocation',
  'offboarding/signal-streams',
  'storage/redis-failover',
  'admin/changed-rules',
  'certificate/revocation-path',
  'offboarding/outage',
  'guard/outages',
  'certificate/chain-served',
  'storage/cluster',
  'notify/background',
  'offboarding/provider-failures',
  'updates/limits',
];
const BETWEEN_WAITING = 3;

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
