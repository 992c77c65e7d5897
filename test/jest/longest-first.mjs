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
  'requests/answers-off',
  'web/account/devices',
  'web/account/push',
  'web/admin/screenshots',
  'certificate/revocation',
  'offboarding/signal-streams',
  'packages/packages',
  'certificate/proxies',
  'certificate/chain-served',
  'login/admission',
  'storage/redis-failover',
  'guard/outages',
  'chart/chart',
  'chart/objects',
  'push/web-push',
  'oauth/python-gate',
  'search/search',
];

/** Starts the longest specs first. The order changes nothing but the time of a run. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const [long, others] = [[], []];
    for (const test of sorted) {
      (LONGEST.some((name) => test.path.includes(`/${name}.`)) ? long : others).push(test);
    }
    return [...long, ...others];
  }
}
