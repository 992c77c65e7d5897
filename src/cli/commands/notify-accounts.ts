import { resolve } from 'node:path';
import type { SavedPushToken } from '../../client/api-client-answers.js';
import type { SpoolAccount } from '../../notify/spool-entry.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { requireSession, type CurrentSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { notifyOptions } from './notify-options.js';
import { readSettings, type SettingsDocument } from './notify-settings.js';

export interface KnownAccount {
  /** The command's own, for this account. */
  readonly context: CliContext;
  readonly current: CurrentSession;
  readonly document: SettingsDocument;
}

/** What the accounts of a spool have set, each read once until it is forgotten. */
export class NotifyAccounts {
  private readonly accounts = new Map<string, Promise<KnownAccount>>();
  private readonly tokens = new Map<string, Promise<readonly SavedPushToken[]>>();

  constructor(private readonly context: CliContext) {}

  /** Whose deliveries these are, as it stands in the spool. */
  nameOf({ session }: CurrentSession): SpoolAccount {
    const { settingsFile } = notifyOptions(this.context);
    const { server, accountId } = session;
    return {
      server,
      accountId,
      settingsFile: settingsFile === undefined ? null : resolve(settingsFile),
    };
  }

  /** What was read already need not be read again. */
  remember(
    current: CurrentSession,
    document: SettingsDocument,
    tokens: readonly SavedPushToken[],
  ): void {
    const name = this.nameOf(current);
    const context = this.contextOf(name);
    this.accounts.set(keyOf(name), Promise.resolve({ context, current, document }));
    this.tokens.set(keyOf(name), Promise.resolve(tokens));
  }

  /** All is read anew from now on: a channel may have been put right, or be wanted no more. */
  forget(): void {
    this.accounts.clear();
    this.tokens.clear();
  }

  /** @throws CliError, ServerUnreachable, GatehouseProblem */
  get(name: SpoolAccount): Promise<KnownAccount> {
    return once(this.accounts, keyOf(name), () => this.read(name));
  }

  /** @throws like {@link get} */
  tokensOf(name: SpoolAccount): Promise<readonly SavedPushToken[]> {
    return once(this.tokens, keyOf(name), async () =>
      (await this.get(name)).current.client.pushTokens(),
    );
  }

  private async read(name: SpoolAccount): Promise<KnownAccount> {
    const context = this.contextOf(name);
    const current = await requireSession(context);
    if (current.session.accountId !== name.accountId) {
      throw new CliError(`Logged in to ${name.server} with another account.`, OTHER_ACCOUNT);
    }
    return { context, current, document: await readSettings(context, current) };
  }

  private contextOf({ server, settingsFile }: SpoolAccount): CliContext {
    const options = { ...notifyOptions(this.context), settingsFile: settingsFile ?? undefined };
    return { ...this.context, options: { ...options, server } };
  }
}

const OTHER_ACCOUNT = { exitCode: EXIT.notLoggedIn, code: 'not-logged-in' };

function once<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  read: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? read();
  known.set(key, value);
  return value;
}

function keyOf({ server, accountId, settingsFile }: SpoolAccount): string {
  return JSON.stringify([server, accountId, settingsFile]);
}
