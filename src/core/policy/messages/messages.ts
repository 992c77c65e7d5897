import { ACCOUNT_MESSAGES } from './account-messages.js';
import { FINDING_MESSAGES } from './finding-messages.js';
import { POLICY_MESSAGES } from './policy-messages.js';
import {
  CODES,
  type MessageTable,
  type Parameter,
  type Statement,
  type Wording,
} from './statement.js';

/** The English messages of the server, the command line and the console. */
export const MESSAGES = { ...POLICY_MESSAGES, ...ACCOUNT_MESSAGES, ...FINDING_MESSAGES };

type MessageCode = keyof typeof MESSAGES;

/** A table in another language: the same codes with the same parameters. */
export type Messages = { readonly [Code in MessageCode]: (typeof MESSAGES)[Code] };

type ParamsOf<Code extends MessageCode> =
  Parameters<(typeof MESSAGES)[Code]> extends [infer Params, ...unknown[]] ? Params : never;

/** The parameters of a message, as arguments: none where it has none. */
export type MessageArguments<Code extends MessageCode> = [ParamsOf<Code>] extends [never]
  ? []
  : [params: ParamsOf<Code>];

export function state<Code extends MessageCode>(
  code: Code,
  ...[given]: MessageArguments<Code>
): Statement {
  return stateWith(code, given ?? {});
}

/** As {@link state}, where the caller knows that the parameters belong to the code. */
export function stateWith(code: string, given: object): Statement {
  const params = given as Readonly<Record<string, Parameter>>;
  return { code, params, message: messageIn(MESSAGES, { code, params, message: code }, CODES) };
}

/** A code that the table does not have, as of a newer server, keeps its English message. */
export function messageIn(
  table: MessageTable,
  { code, params, message }: Statement,
  wording: Wording,
): string {
  return Object.hasOwn(table, code)
    ? (table[code]?.(params as never, wording) ?? message)
    : message;
}
