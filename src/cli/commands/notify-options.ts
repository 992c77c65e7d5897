import type { CliContext, CliOptions } from '../context.js';

/** The options of the notification commands; each command reads its own. */
export interface NotifyCliOptions extends CliOptions {
  readonly settingsFile?: string | undefined;
  readonly eventFile?: string;
  readonly wait?: boolean;
  /** False with --no-background. */
  readonly background?: boolean;
  readonly denyPrivate?: boolean;
  readonly id?: string;
  readonly session?: string;
  readonly title?: string;
  readonly message?: string;
  readonly request?: string;
  readonly tool?: string;
  readonly command?: string;
  readonly filePath?: string;
  readonly explanation?: string;
  readonly planText?: string;
  readonly url?: string;
  readonly search?: string;
  readonly question?: string;
  readonly option?: readonly string[];
  readonly multiple?: boolean;
  readonly customAnswer?: boolean;
  readonly metadata?: readonly string[];
  readonly secret?: string;
  readonly secretFile?: string;
  readonly newSecret?: boolean;
  readonly preset?: string;
  readonly topics?: string;
  readonly messageText?: boolean;
  readonly previews?: boolean;
  readonly port?: number;
  readonly status?: number;
  readonly signature?: string;
  readonly header?: readonly string[];
  readonly toleranceSeconds?: number;
  readonly state?: string;
}

export function notifyOptions({ options }: Pick<CliContext, 'options'>): NotifyCliOptions {
  return options;
}
