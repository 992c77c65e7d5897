import { findContradiction, MOST_STATES, type Step } from './linearizable.js';

/** Acts that need an admitted session; the last four stay open to one whose identity is missing. */
const BY_SESSION = [
  ...['request', 'connect', 'update', 'read', 'write', 'approve'],
  ...['logout', 'everywhere', 'unlink', 'link'],
] as const;
const WITHOUT_IDENTITY = new Set(['logout', 'everywhere', 'unlink', 'link']);
/** Faults during which a replica may answer 503, and a moment after. */
const EXCUSES = new Set(['kill', 'stop', 'database-cut', 'database-killed']);
/** Acts that add one to the `seq` of the account's updates. */
const UPDATING = new Set(['write', 'unlink', 'link']);

/**
 * `conflict`: not done, because another was first. `unavailable`: 503 with Retry-After, done or not;
 * `unknown` likewise, without an answer. `unsent`: no server listened, or a limit refused it. `surprise`: any other answer.
 */
export type Outcome =
  | 'done'
  | 'refused'
  | 'conflict'
  | 'unavailable'
  | 'unknown'
  | 'unsent'
  | 'surprise';

/** An act, a request or a fault as a client saw it: a line of a history. */
export interface Recorded {
  readonly act: string;
  /** `*` for a fault of all. */
  readonly replica: string;
  readonly account: string;
  /** Milliseconds of a monotonic clock, before it was sent and after its answer. */
  readonly begin: number;
  readonly end: number | null;
  readonly outcome: Outcome;
  /** The session that sent it, that received the update, or that approved what is claimed. */
  readonly session?: string;
  /** The session that a login or a claim created. */
  readonly created?: string;
  /** The challenge, approval or pending identity that it used up. */
  readonly once?: string;
  /** The time before the identity of a link was proven. */
  readonly since?: number;
  /** Settings that a write sent or a read returned, with their version. */
  readonly content?: string | null;
  readonly version?: number;
  readonly expected?: number;
  /** The number of an update. */
  readonly seq?: number;
  readonly answer?: string;
}

export interface Bounds {
  readonly requestMs: number;
  readonly connectionMs: number;
  /** Between the wall clocks of two replicas. */
  readonly clockMs: number;
}

/** Returns what is wrong with a history; an empty list where nothing is. */
export function findFaults(history: readonly Recorded[], bounds: Bounds): string[] {
  const acts = history.filter(({ account }) => account !== '');
  const faults = history.filter(({ account }) => account === '');
  const unexpected = acts.filter(
    (act) =>
      isUnexpected(act, faults) || (isTooOld(act) && !isUnlinkedSince(act, acts, bounds.clockMs)),
  );
  return [
    ...unexpected.map((act) => `unexpected: ${line(act)}`),
    ...groups(acts, ({ account }) => account).flatMap((own) => [
      ...contradiction('access', FIRST_ACCESS, accessSteps(own, bounds)),
      ...contradiction('settings', FIRST_SETTINGS, own.flatMap(settingsStep)),
    ]),
    ...groups(acts, ({ once }) => once).flatMap((own) =>
      contradiction('single use', { isTaken: false }, own.flatMap(onceStep)),
    ),
  ];
}

/** Returns true for an answer that is no refusal, and for a 503 without a fault at that time. */
function isUnexpected(act: Recorded, faults: readonly Recorded[]): boolean {
  const isExcused = faults.some(
    ({ act: kind, replica, begin, end }) =>
      EXCUSES.has(kind) &&
      (replica === '*' || replica === act.replica) &&
      begin <= (act.end ?? Infinity) &&
      act.begin <= (end ?? Infinity),
  );
  return act.outcome === 'surprise' || (act.outcome === 'unavailable' && !isExcused);
}

/** Returns true for a link of an admitted session that is refused for its proof: an unlink ends earlier ones. */
function isTooOld({ act, outcome, answer }: Recorded): boolean {
  return act === 'link' && outcome === 'refused' && answer === 'provider-required';
}

function isUnlinkedSince(of: Recorded, acts: readonly Recorded[], clockMs: number): boolean {
  const { account, since = of.begin, end } = of;
  return acts.some(
    (one) =>
      one.act === 'unlink' &&
      one.account === account &&
      isPossible(one.outcome) &&
      one.begin <= (end ?? Infinity) &&
      (one.end ?? Infinity) + clockMs >= since,
  );
}

type Explained<State> = Step<State> & { readonly of: Recorded };

function contradiction<State>(
  name: string,
  initial: State,
  steps: readonly Explained<State>[],
): string[] {
  const found = findContradiction(initial, steps);
  if (found === null) {
    return [];
  }
  const stuck = found.stuck as readonly Explained<State>[];
  const lines = stuck.filter(({ to }) => to !== Infinity).map(({ of }) => line(of));
  const verdict = found.isCertain
    ? 'no order explains one of'
    : `undecided after ${MOST_STATES} states, the longest order stops before one of`;
  return [`${name}: ${verdict}\n  ${lines.join('\n  ')}`];
}

interface Access {
  readonly isEnabled: boolean;
  readonly isEligible: boolean;
  readonly live: readonly string[];
}

const FIRST_ACCESS: Access = { isEnabled: true, isEligible: true, live: [] };

const EFFECTS: Readonly<Record<string, (state: Access, act: Recorded) => Access>> = {
  logout: (state, { session }) => {
    return { ...state, live: state.live.filter((one) => one !== session) };
  },
  everywhere: (state) => ({ ...state, live: [] }),
  disable: (state) => ({ ...state, isEnabled: false, live: [] }),
  enable: (state) => ({ ...state, isEnabled: true }),
  unlink: (state) => ({ ...state, isEligible: false }),
  link: (state) => ({ ...state, isEligible: true }),
};

function accessSteps(acts: readonly Recorded[], bounds: Bounds): Explained<Access>[] {
  const begins = acts
    .filter(({ act, outcome }) => UPDATING.has(act) && isPossible(outcome))
    .map(({ begin }) => begin)
    .toSorted((one, other) => one - other);
  return acts.flatMap((act) => [
    ...admissionStep(act, begins, bounds),
    ...createdStep(act),
    ...effectStep(act),
  ]);
}

/** Facts may be as old as the bound when a request begins, and when an update is sent. */
function admissionStep(
  of: Recorded,
  begins: readonly number[],
  { requestMs, connectionMs }: Bounds,
): Explained<Access>[] {
  const { act, session = '', outcome, end, seq } = of;
  const isAnswered = outcome === 'done' || outcome === 'conflict' || outcome === 'refused';
  if (!BY_SESSION.some((one) => one === act) || !isAnswered || end === null) {
    return [];
  }
  const admits = ({ isEnabled, isEligible, live }: Access): boolean =>
    isEnabled && live.includes(session) && (isEligible || WITHOUT_IDENTITY.has(act));
  // An update with this number was sent after so many acts had begun.
  const from =
    seq === undefined ? of.begin - requestMs : (begins[seq - 1] ?? Infinity) - connectionMs;
  const isAdmitted = outcome !== 'refused' || isTooOld(of);
  const apply = (state: Access): Access | null => (admits(state) === isAdmitted ? state : null);
  return [{ of, from, to: end, isRead: true, apply }];
}

/** A login is refused where the account is disabled; a claim, where the approving session is over. */
function createdStep(of: Recorded): Explained<Access>[] {
  const { act, created, session, outcome, begin, end } = of;
  if ((act !== 'login' && act !== 'claim') || end === null) {
    return [];
  }
  const can = ({ isEnabled, live }: Access): boolean =>
    isEnabled && (act === 'login' || live.includes(session ?? ''));
  const limits = { of, from: begin, to: end };
  if (outcome === 'refused') {
    return [{ ...limits, isRead: true, apply: (state) => (can(state) ? null : state) }];
  }
  const begun = (state: Access): Access => {
    return { ...state, live: [...state.live, created ?? ''].toSorted() };
  };
  const apply = (state: Access): Access | null => (can(state) ? begun(state) : null);
  return outcome === 'done' ? [{ ...limits, isRead: false, apply }] : [];
}

function effectStep(of: Recorded): Explained<Access>[] {
  const effect = EFFECTS[of.act];
  return effect !== undefined && isPossible(of.outcome)
    ? [{ ...limitsOf(of), isRead: false, apply: (state) => effect(state, of) }]
    : [];
}

interface Settings {
  readonly version: number;
  readonly content: string | null;
}

const FIRST_SETTINGS: Settings = { version: 0, content: null };

function settingsStep(of: Recorded): Explained<Settings>[] {
  const { act, outcome, content = null, version, expected = 0 } = of;
  if (act === 'write' && isPossible(outcome)) {
    const next = { version: expected + 1, content };
    const isTold = outcome !== 'done' || version === next.version;
    const apply = (state: Settings): Settings | null =>
      isTold && state.version === expected ? next : null;
    return [{ ...limitsOf(of), isRead: false, apply }];
  }
  const isConflict = act === 'write' && outcome === 'conflict' && version !== expected;
  const matches = (state: Settings): boolean =>
    (isConflict || act === 'read') && state.version === version && state.content === content;
  return (act === 'read' && outcome === 'done') || (act === 'write' && outcome === 'conflict')
    ? [{ ...limitsOf(of), isRead: true, apply: (state) => (matches(state) ? state : null) }]
    : [];
}

interface Once {
  readonly isTaken: boolean;
}

/** A refused login or claim used it up; one that found it used up follows another that did. */
function onceStep(of: Recorded): Explained<Once>[] {
  const { act, outcome } = of;
  if (outcome === 'conflict') {
    return [{ ...limitsOf(of), isRead: true, apply: (state) => (state.isTaken ? state : null) }];
  }
  const apply = ({ isTaken }: Once): Once | null => (isTaken ? null : { isTaken: true });
  return isPossible(outcome) || (outcome === 'refused' && act !== 'link')
    ? [{ ...limitsOf(of), isRead: false, apply }]
    : [];
}

function isPossible(outcome: Outcome): boolean {
  return outcome === 'done' || outcome === 'unavailable' || outcome === 'unknown';
}

/** An act of unknown outcome may happen until the end. */
function limitsOf(of: Recorded) {
  const isOpen = of.outcome === 'unavailable' || of.outcome === 'unknown';
  return { of, from: of.begin, to: isOpen ? Infinity : (of.end ?? Infinity) };
}

function groups(
  acts: readonly Recorded[],
  keyOf: (act: Recorded) => string | undefined,
): Recorded[][] {
  const found = new Map<string, Recorded[]>();
  for (const act of acts) {
    const key = keyOf(act);
    if (key !== undefined) {
      found.set(key, [...(found.get(key) ?? []), act]);
    }
  }
  return [...found.values()];
}

export function line(recorded: Recorded): string {
  return JSON.stringify(recorded);
}
