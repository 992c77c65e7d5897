import { INVITATION_LIMITS } from '../../../core/policy/flow/code-limits.js';
import type { AdminInvitation } from '../../../packages/client/api/admin-client.js';
import { usageError } from '../cli-error.js';
import { command, type CommandGroup } from '../command.js';
import { ACTOR, durationMs, FIELDS, REASON, reasonIn, wholeNumber } from '../options.js';
import { formatMinute, type Listing } from '../output.js';
import { ADMIN_OPTIONS, WITH_ADMINISTRATION, withAdministration } from './with-administration.js';

const DEFAULT_LIFETIME = '7d';

export const invite: CommandGroup = {
  name: 'invite',
  description: 'create, list or revoke invitations to sign up on this server',
  help: `
The server accepts them with AUTH_SIGNUP_INVITATIONS_ENABLED=true.
${WITH_ADMINISTRATION}`,
  commands: [
    command({
      name: 'create',
      description: 'create an invitation, and print its code and its link once',
      options: [
        [
          '--uses <count>',
          'accounts that it can create (default 1)',
          { parse: wholeNumber(1, INVITATION_LIMITS.uses) },
        ],
        ['--expires-in <time>', `for example 12h or 30d (default ${DEFAULT_LIFETIME})`],
        ['--note <text>', 'for administrators; kept in the audit trail too'],
        ACTOR,
        ...ADMIN_OPTIONS,
      ],
      examples: ['gatehouse invite create --uses 4 --expires-in 14d --note "the Garcia family"'],
      run(context) {
        const { uses = 1, expiresIn = DEFAULT_LIFETIME } = context.options;
        const expiresInSeconds = lifetimeOf(expiresIn);
        const note = noteOf(context.options.note);
        return withAdministration(context, async (administration) => {
          const wanted = { uses, expiresInSeconds, note };
          const { id, code, link, areAccepted } = await administration.createInvitation(wanted);
          context.output.result(
            { id, code, link, uses, expiresInSeconds, note, areAccepted },
            [
              code,
              ...(link === null ? [] : [link]),
              `The invitation ${id} creates ${uses === 1 ? 'one account' : `${uses} accounts`}. Its code is not shown again.`,
            ].join('\n'),
          );
          if (!areAccepted) {
            context.output.note(
              'It creates no account yet: invitations count with AUTH_SIGNUP_INVITATIONS_ENABLED=true.',
            );
          }
        });
      },
    }),
    command({
      name: 'list',
      description: 'list invitations that have not expired, newest first',
      options: [FIELDS, ...ADMIN_OPTIONS],
      examples: ['gatehouse invite list'],
      run(context) {
        return withAdministration(context, async (administration) => {
          await context.output.list(LISTING, administration.invitations());
        });
      },
    }),
    command({
      name: 'revoke',
      description: 'revoke an invitation; the accounts it created stay',
      args: [['<id>', 'id of the invitation']],
      options: [REASON, ACTOR, ...ADMIN_OPTIONS],
      examples: [
        "gatehouse invite revoke 7f7c0c2e-4b0b-4a5e-9f63-3a1d7c1b7a52 --reason 'sent to the wrong address'",
      ],
      run(context) {
        const [id = ''] = context.args;
        const reason = reasonIn(context.options);
        return withAdministration(context, async (administration) => {
          const changed = await administration.revokeInvitation(id, reason);
          context.output.result(
            { id, changed, reason },
            changed ? `Revoked ${id}.` : `${id} was revoked before.`,
          );
        });
      },
    }),
  ],
};

function lifetimeOf(text: string): number {
  const seconds = (durationMs(text) ?? NaN) / 1000;
  const { minSeconds, maxSeconds } = INVITATION_LIMITS;
  if (!(seconds >= minSeconds && seconds <= maxSeconds)) {
    throw usageError('--expires-in must be a time like 30m, 12h or 7d, at most 365d.');
  }
  return seconds;
}

function noteOf(text: string | undefined): string | null {
  const note = text?.trim() ?? '';
  if (note.length > INVITATION_LIMITS.noteLength || /\p{Cc}/u.test(note)) {
    throw usageError(
      `--note must have at most ${INVITATION_LIMITS.noteLength} characters, and no line breaks.`,
    );
  }
  return note === '' ? null : note;
}

const LISTING: Listing<AdminInvitation> = {
  fields: ['id', 'uses', 'used', 'note', 'createdBy', 'createdAt', 'expiresAt', 'revokedAt'],
  columns: [
    ['ID', ({ id }) => id],
    ['USED', ({ used, uses }) => `${used} of ${uses}`],
    [
      'STATE',
      ({ revokedAt, expiresAt }) =>
        revokedAt === null ? `until ${formatMinute(expiresAt)}` : 'revoked',
    ],
    ['CREATED BY', ({ createdBy }) => createdBy],
    ['NOTE', ({ note }) => note],
  ],
  empty: 'No invitations.',
};
