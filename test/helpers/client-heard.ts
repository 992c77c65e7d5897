import {
  connectUpdates,
  type UpdateConnection,
  type UpdateScope,
} from '../../src/client/updates/connect-updates.js';

/** A connection for updates, with what its handlers were called with, in order. */
export interface Heard {
  readonly connection: UpdateConnection;
  /** Several arguments are one list. */
  readonly events: readonly (readonly [string, unknown])[];
  /** The next event of that name, from the first one that ever came. */
  next(name: string): Promise<unknown>;
}

export interface Listening {
  readonly serverUrl: string;
  readonly token: string;
  readonly lastSeq?: number;
}

const open: Heard[] = [];

/** Connects; {@link closeAll} ends it. */
export function listen(options: Listening, scope: UpdateScope = {}): Heard {
  const events: [string, unknown][] = [];
  const taken = new Set<number>();
  let wake: () => void = () => undefined;
  const hear =
    (name: string) =>
    (...args: unknown[]): void => {
      events.push([name, args.length > 1 ? args : args[0]]);
      wake();
    };
  const handlers = {
    onConnected: hear('connected'),
    onUpdate: hear('update'),
    onGap: hear('gap'),
    onWaiting: hear('waiting'),
    onStopped: hear('stopped'),
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
  const heard = { connection: connectUpdates({ ...options, ...scope }, handlers), events, next };
  open.push(heard);
  return heard;
}

/** Ends every connection of {@link listen}. */
export function closeAll(): void {
  open.splice(0).forEach(({ connection }) => connection.close());
}
