/** Events of GitHub's webhook after which somebody may have left, with where they name whom. */
const LEAVING: Readonly<Record<string, readonly [action: string, path: readonly string[]]>> = {
  organization: ['member_removed', ['membership', 'user', 'id']],
  membership: ['removed', ['member', 'id']],
  github_app_authorization: ['revoked', ['sender', 'id']],
};

/** The numeric id of whoever may have left, as text; null when the event says nothing of the kind. */
export function leaverIn(event: string, payload: unknown): string | null {
  const row = Object.hasOwn(LEAVING, event) ? LEAVING[event] : undefined;
  if (row === undefined || valueAt(payload, ['action']) !== row[0]) {
    return null;
  }
  const id = valueAt(payload, row[1]);
  return Number.isSafeInteger(id) ? String(id) : null;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (part, name) =>
      typeof part === 'object' && part !== null && Object.hasOwn(part, name)
        ? (part as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}
