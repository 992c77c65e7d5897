import { fitsLoginChallenge } from '../policy/login-challenge.js';
import type { ConfigurationReport } from './configuration-error.js';
import type { Values } from './env.js';

/** The origins in this server's challenges: of SERVICE_PUBLIC_URL first. Call it on valid values. */
export function loginOrigins(values: Values): string[] {
  const addresses = [values.SERVICE_PUBLIC_URL ?? [], values.SERVICE_LOGIN_ORIGINS].flat();
  return [...new Set(addresses.map((address) => new URL(address).origin))];
}

/** Origins that no client can have, and more of them than fit into what a client signs. */
export function checkLoginOrigins(values: Values, report: ConfigurationReport): void {
  const name = 'SERVICE_LOGIN_ORIGINS';
  if (report.has(name) || report.has('SERVICE_PUBLIC_URL')) {
    return;
  }
  const wrong = values[name].filter((origin) => !isOrigin(origin));
  if (wrong.length > 0) {
    report.problem(name, `must not name ${wrong.join(', ')}, which is not an origin.`);
  } else if (!fitsLoginChallenge(loginOrigins(values))) {
    report.problem(name, 'is too long: with SERVICE_PUBLIC_URL, about 900 characters fit.');
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).href === `${new URL(text).origin}/`;
}
