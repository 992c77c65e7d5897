import * as v from 'valibot';
import { isDocumentAddress } from '../../../core/policy/programs/known-programs.js';
import { isScopeName, type ProgramScopes } from '../../../core/policy/programs/program-scopes.js';
import {
  FILE_CLIENT,
  type ConfiguredProgram,
  type ProgramRules,
} from '../../../core/policy/programs/programs.js';
import {
  FLAG,
  object,
  optionalNumber,
  optionalObject,
  optionalTexts,
  text,
  texts,
} from '../providers-file/entry-schema.js';
import type { ReportField } from '../providers-file/entries-file.js';

const CLIENTS = 'must be "known", "any" or an array of client ids.';
const SCOPES = 'must be an object with a text for each scope.';

const SCOPE = v.union(
  [
    text('The scope in words for the person who grants it.'),
    object({
      text: text('The scope in words for the person who grants it.'),
      requires: optionalTexts('Ids of scopes without which it means nothing.'),
    }),
  ],
  SCOPES,
);

/** The field `programs` of a resource server. */
export const PROGRAMS_ENTRY = optionalObject(
  'Lets people grant programs, such as MCP clients, access to this backend. Absent = no program gets a token.',
  {
    checksScopes: v.pipe(
      v.boolean(FLAG),
      v.description('True confirms that the backend checks `scope` and `client_id` of each token.'),
    ),
    scopes: v.pipe(
      v.record(v.string(), SCOPE, SCOPES),
      v.description(
        'The scopes of the backend: for each id its text, or an object with `text` and `requires`.',
      ),
    ),
    initial: texts('Ids of the scopes for a program that asks for none, or for unknown ones.'),
    clients: v.optional(
      v.pipe(
        v.union([v.picklist(['known', 'any']), v.array(v.string())], CLIENTS),
        v.description(
          'Programs that are accepted: `known` (those of Claude Code, Claude, ChatGPT, Codex and VS Code, those of AUTH_PROGRAM_CLIENTS_CONFIG_PATH, and files of `gatehouse programs add`), `any` (every one with a metadata document, too), or an array of client ids; that of files is `gatehouse-file`.',
        ),
      ),
      'known',
    ),
    tokenSeconds: optionalNumber(
      { min: 60, max: 900 },
      "Lifetime of a program's token in seconds. It never exceeds a maxTokenSeconds that is set.",
      900,
    ),
    maxGrantSeconds: optionalNumber(
      { min: 3600, max: 31_536_000 },
      'Longest time for which a person can grant access, in seconds.',
      7_776_000,
    ),
  },
);

type ProgramsEntry = NonNullable<v.InferOutput<typeof PROGRAMS_ENTRY>>;

/** @param maxTokenSeconds as it is set; null = it is not */
export function readPrograms(
  { checksScopes, scopes, initial, clients, ...times }: ProgramsEntry,
  maxTokenSeconds: number | null,
  configured: readonly ConfiguredProgram[],
  problem: ReportField,
): ProgramRules {
  if (!checksScopes) {
    problem(
      '.programs.checksScopes',
      'must be true: a backend that does not check the scopes of its tokens would let every program do all.',
    );
  }
  const known = readScopes(scopes, initial, problem);
  const isAccepted = (id: string): boolean =>
    id === FILE_CLIENT || isDocumentAddress(id) || configured.some((program) => program.id === id);
  if (typeof clients !== 'string' && (clients.length === 0 || !clients.every(isAccepted))) {
    problem(
      '.programs.clients',
      'must name https addresses of metadata documents, ids of AUTH_PROGRAM_CLIENTS_CONFIG_PATH, or gatehouse-file.',
    );
  }
  const tokenSeconds = Math.min(times.tokenSeconds, maxTokenSeconds ?? times.tokenSeconds);
  return { scopes: known, initial, clients, ...times, tokenSeconds };
}

function readScopes(
  scopes: ProgramsEntry['scopes'],
  initial: readonly string[],
  problem: ReportField,
): ProgramScopes {
  const known: ProgramScopes = Object.fromEntries(
    Object.entries(scopes).map(([id, scope]) => [
      id,
      typeof scope === 'string' ? { text: scope, requires: [] } : scope,
    ]),
  );
  const ids = Object.keys(known);
  if (ids.length === 0 || !ids.every(isScopeName)) {
    problem(
      '.programs.scopes',
      'must have at least one scope, with ids of 1 to 64 printable characters without space, quote and backslash (not offline_access).',
    );
  }
  const required = Object.values(known).flatMap(({ requires }) => requires);
  if (required.some((id) => !ids.includes(id))) {
    problem('.programs.scopes', 'has a scope whose requires names a scope that is not there.');
  }
  if (initial.length === 0 || initial.some((id) => !ids.includes(id))) {
    problem('.programs.initial', 'must name at least one of the scopes, and no other.');
  }
  return known;
}
