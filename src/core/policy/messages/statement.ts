/** A value that a message shows. */
export type Parameter = string | number | boolean | null | readonly string[];

/** Words of a message that depend on its reader. */
export interface Wording {
  /** Name of a provider or of a sign-in method. */
  readonly provider: (id: string) => string;
  /** Name of an eligibility reason or of an error code. */
  readonly reason: (code: string) => string;
  /** @param at Unix milliseconds */
  readonly time: (at: number) => string;
}

/** A table of messages by code, in one language. */
export type MessageTable = Readonly<Record<string, (params: never, wording: Wording) => string>>;

/** A sentence by code and parameters, so that programs can show it in another language. */
export interface Statement {
  readonly code: string;
  readonly params: Readonly<Record<string, Parameter>>;
  /** In English, with the ids of providers. */
  readonly message: string;
}

/** Ids and codes are shown as configuration and logs have them. */
export const CODES: Wording = {
  provider: (id) => id,
  reason: (code) => code,
  time: (at) => new Date(at).toISOString(),
};
