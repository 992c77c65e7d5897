export interface Target {
  /** Of the checkout; the results lie in its folder `dist`. */
  readonly root: string;
  readonly name: string;
  /** Files and folders that it is made of, relative to the root; specs in them do not count. */
  readonly inputs: readonly string[];
  /**
   * How long a file stays that a build no longer makes, in ms; default a day: programs that were
   * started before load parts of theirs later.
   */
  readonly keptMs?: number;
  /** Writes the files into the folder `work` as they are to lie in `dist`. */
  build(folders: { readonly root: string; readonly work: string }): Promise<void>;
}

/**
 * Builds a target in a folder of its own and moves the result into `dist`, unless `dist` was built
 * from the same inputs. Programs that run from `dist` meanwhile go on: each file is replaced in one
 * step, and files that are no longer built stay there for a while.
 *
 * @param options `isForced` builds in any case; `now` in Unix milliseconds, default the clock;
 *   `onBuild` is called before a build
 * @returns whether it was built
 */
export function bringUpToDate(
  target: Target,
  options?: {
    readonly isForced?: boolean;
    readonly now?: number;
    readonly onBuild?: () => void;
  },
): Promise<boolean>;

/** Whether `dist` has everything that the target built, from what the inputs hold now. */
export function isUpToDate(target: Target): boolean;

/** The files of the last build, relative to `dist`. */
export function builtFiles(root: string, name: string): string[];
