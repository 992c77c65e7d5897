import type { AuthAction, AuthMethod, AuthMode } from '../policy/auth-methods.js';
import { isRecord } from './problem.js';

const ACTIONS: readonly AuthAction[] = ['login', 'provision', 'connect'];
const MODES: readonly AuthMode[] = ['keyed', 'keyless'];

/**
 * The ways in that a server advertises. `capabilities.auth.methods` is preferred; a server that
 * has only `signup.methods` is an older one, where device-key login always works (specification,
 * Versioning 2 and 3). Entries that are not understood are left out, never guessed at.
 *
 * @param auth `capabilities.auth` as it came
 */
export function readAuthMethods(auth: unknown): AuthMethod[] {
  if (!isRecord(auth)) {
    return [];
  }
  const { methods, signup } = auth;
  return Array.isArray(methods)
    ? methods.flatMap(readMethod)
    : legacyMethods(isRecord(signup) ? signup['methods'] : null);
}

function readMethod(entry: unknown): AuthMethod[] {
  if (!isRecord(entry) || typeof entry['method'] !== 'string') {
    return [];
  }
  const action = ACTIONS.find((known) => known === entry['action']);
  const mode = MODES.find((known) => known === entry['mode']);
  return action && mode ? [{ method: entry['method'], action, mode }] : [];
}

function legacyMethods(methods: unknown): AuthMethod[] {
  if (!Array.isArray(methods)) {
    return [];
  }
  const provisioning = methods.flatMap((entry): AuthMethod[] =>
    isRecord(entry) && typeof entry['id'] === 'string' && entry['enabled'] === true
      ? [
          {
            method: entry['id'] === 'anonymous' ? 'key_challenge' : entry['id'],
            action: 'provision',
            mode: 'keyed',
          },
        ]
      : [],
  );
  return [{ method: 'key_challenge', action: 'login', mode: 'keyed' }, ...provisioning];
}
