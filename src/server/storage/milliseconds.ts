/** A row with its times as Unix milliseconds, the form that the rest of the program uses. */
export type InMilliseconds<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends Date
    ? number
    : Row[Name] extends Date | null
      ? number | null
      : Row[Name];
};

/** The row whose {@link inMilliseconds} is `Value`. */
export type InDates<Value, Times extends keyof Value> = {
  readonly [Name in keyof Value]: Name extends Times
    ? Date | Extract<Value[Name], null>
    : Value[Name];
};

export function inMilliseconds<Row extends object>(row: Row): InMilliseconds<Row> {
  const fields = { ...row } as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value instanceof Date) {
      fields[name] = value.getTime();
    }
  }
  return fields as InMilliseconds<Row>;
}
