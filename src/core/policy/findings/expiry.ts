import { state } from '../messages/messages.js';
import type { LockoutFinding } from './lockout.js';

const SUBJECTS = {
  certificate: 'certificate',
  authority: 'certificate-authority',
  revocation_list: 'revocation-list',
  client_secret: 'client-secret',
} as const;

/** Something that the server uses and that has an end. Times are Unix milliseconds. */
export interface Expiry {
  /** The variable that names the file; for a client secret the field of the provider. */
  readonly variable: string;
  readonly kind: keyof typeof SUBJECTS;
  /** A common name; for a client secret the id of the provider. */
  readonly name: string;
  /** null = not known. */
  readonly startsAt: number | null;
  readonly expiresAt: number;
}

const DAY_MS = 86_400_000;
const WARNING_MS = 21 * DAY_MS;
/** Lists are replaced within days: one is late when a quarter of its time is left. */
const SHARE_LEFT = 0.25;

/** Returns what has expired, or ends within 21 days; a revocation list within a quarter of its time. */
export function findExpiries(expiries: readonly Expiry[], now: number): LockoutFinding[] {
  const found = expiries.flatMap((expiry) => judge(expiry, expiries, now) ?? []);
  return [
    ...found.filter(({ severity }) => severity === 'error'),
    ...found.filter(({ severity }) => severity !== 'error'),
  ];
}

function judge(expiry: Expiry, all: readonly Expiry[], now: number): LockoutFinding | null {
  const { kind, name, variable, expiresAt } = expiry;
  const subject = SUBJECTS[kind];
  const params = { variable, name, expiresAt };
  if (expiresAt <= now) {
    const severity = isReplaced(expiry, all, now) ? 'warning' : 'error';
    return { severity, ...state(`${subject}-expired`, params) };
  }
  if (expiresAt - now > warningMs(expiry)) {
    return null;
  }
  const days = Math.floor((expiresAt - now) / DAY_MS);
  return { severity: 'warning', ...state(`${subject}-expires-soon`, { ...params, days }) };
}

function warningMs({ kind, startsAt, expiresAt }: Expiry): number {
  return kind === 'revocation_list' && startsAt !== null
    ? Math.min(WARNING_MS, (expiresAt - startsAt) * SHARE_LEFT)
    : WARNING_MS;
}

/** A bundle may hold an old authority next to the one that replaced it. */
function isReplaced({ kind, variable }: Expiry, all: readonly Expiry[], now: number): boolean {
  return (
    kind === 'authority' &&
    all.some((other) => other.variable === variable && other.expiresAt > now)
  );
}
