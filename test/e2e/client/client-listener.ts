import {
  connectUpdates,
  type UpdateConnection,
  type UpdateScope,
} from '../../../src/packages/client/updates/connect-updates.js';

export interface Listener {
  readonly connection: UpdateConnection;
  /** Several arguments are one list. */
  readonly events: readonly (readonly [string, unknown])[];
  next(name: string): Promise<unknown>;
}

export interface Listening {
  readonly serverUrl: string;
  readonly token: string;
  readonly lastSeq?: number;
}

const open: Listener[] = [];

/** Opens a connection, which {@link closeAll} closes. */
export function listen(options: Listening, scope: UpdateScope = {}): Listener {
  const events: [string, unknown][] = [];
  const taken = new Set<number>();
  let wake: () => void = () => undefined;
  const record =
    (name: string) =>
    (...args: unknown[]): void => {
      events.push([name, args.length > 1 ? args : args[0]]);
      wake();
    };
  const handlers = {
    onConnected: record('connected'),
    onUpdate: record('update'),
    onGap: record('gap'),
    onWaiting: record('waiting'),
    onStopped: record('stopped'),
  };
  const next = async (name: string): Promise<unknown> => {
    for (;;) {
      const index = events.findIndex(([one], at) => one === name && !taken.has(at));
      if (index !== -1) {
        taken.add(index);
        return events[index]?.[1];
      }
      await new Promise<void>((done) => (wake = done));
    }
  };
  const listener = { connection: connectUpdates({ ...options, ...scope }, handlers), events, next };
  open.push(listener);
  return listener;
}

export function closeAll(): void {
  open.splice(0).forEach(({ connection }) => connection.close());
}
