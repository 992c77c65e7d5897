import { execFileSync } from 'node:child_process';

/**
 * The commit that is built, in 12 digits; GATEHOUSE_REVISION names it without a checkout.
 * @param {string} root
 * @param {string | undefined} given
 */
export function revisionOf(root, given = process.env.GATEHOUSE_REVISION) {
  if (given) {
    return /^[0-9a-f]{12,}$/.test(given) ? given.slice(0, 12) : 'unknown';
  }
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}
