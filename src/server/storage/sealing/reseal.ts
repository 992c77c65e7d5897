import type { ContentAtRestService, ContentPurpose } from './content-at-rest.service.js';
import type { DatabaseService } from '../database.service.js';
import { BrokenSealError, type SealedBoxService, type SealPurpose } from './sealed-box.service.js';

export interface ResealRow {
  /** Key of the row; `service` is empty where the account or identity alone is the key. */
  readonly id: string;
  readonly service: string;
  readonly owner: string;
  readonly isSealed: boolean;
  readonly bytes: Buffer;
}

interface Target {
  readonly table: string;
  readonly id: string;
  readonly service: string;
  readonly value: string;
  readonly owner: string;
  /** null where every value of the table is sealed. */
  readonly form: string | null;
}

/** Columns of sealed values that live longer than a few minutes. */
export const TARGETS = {
  'account-settings': {
    table: 'account',
    id: '"id"',
    service: `''::text`,
    value: '"settings_content"',
    owner: '"id"::text',
    form: '"settings_form"',
  },
  'account-credentials': {
    table: 'account_credential',
    id: '"account_id"',
    service: '"service" COLLATE "C"',
    value: '"content"',
    owner: `"account_id" || '/' || "service"`,
    form: '"form"',
  },
  'identity-credentials': {
    table: 'identity',
    id: '"id"',
    service: `''::text`,
    value: '"credentials"',
    owner: `"account_id" || '/' || "provider"`,
    form: null,
  },
  'agent-request': {
    table: 'agent_request',
    id: '"id"',
    service: `''::text`,
    value: '"content"',
    owner: `"account_id" || '/' || "request_id"`,
    form: '"form"',
  },
  'program-grant': {
    table: 'program_grant',
    id: '"id"',
    service: `''::text`,
    value: '"refresh_key"',
    owner: '"id"::text',
    form: null,
  },
  'signing-key': {
    table: 'signing_key',
    id: '"id"',
    service: `''::text`,
    value: '"private_key"',
    owner: '"kid"',
    form: null,
  },
} as const satisfies Partial<Record<SealPurpose, Target>>;

export type ResealPurpose = keyof typeof TARGETS;

export const RESEAL_PURPOSES = Object.keys(TARGETS) as readonly ResealPurpose[];

export const NO_ID = '00000000-0000-0000-0000-000000000000';

export interface ResealProgress {
  readonly purpose: ResealPurpose;
  readonly renewed: number;
  /** Values that no master secret of this process opens. They stay unchanged. */
  readonly unreadable: number;
  /** Number of values to reseal at the start. */
  readonly total: number;
}

/** Values per read. Each is replaced by its own statement, so that no server waits for a lock. */
const BATCH = 200;
/** Limit of passes: a running server that still uses the old secret keeps adding values. */
const PASSES = 3;

/**
 * Seals every lasting value with the current master secret, repeatably, while servers run. Plain
 * values may come from a stranger: they are sealed only if the operator confirms them.
 */
export class Reseal {
  constructor(
    private readonly database: DatabaseService,
    private readonly box: SealedBoxService,
    private readonly atRest: ContentAtRestService,
    /** True if plain values are genuine, and to be sealed. */
    private readonly sealsPlain: boolean,
  ) {}

  async run(report: (progress: ResealProgress) => void): Promise<ResealProgress[]> {
    const results: ResealProgress[] = [];
    for (const purpose of RESEAL_PURPOSES) {
      results.push(await this.renew(purpose, report));
    }
    return results;
  }

  /** Plain values that servers refuse to read. */
  async countRefused(): Promise<number> {
    let count = 0;
    for (const purpose of RESEAL_PURPOSES) {
      const { plain } = statementsOf(TARGETS[purpose]);
      if (plain !== null && this.isSealing(purpose)) {
        const [row] = await this.database.query<{ count: number }>(plain, []);
        count += row?.count ?? 0;
      }
    }
    return count;
  }

  private isSealing(purpose: ResealPurpose): boolean {
    return isContent(purpose) && this.atRest.isSealing(purpose);
  }

  private async renew(
    purpose: ResealPurpose,
    report: (progress: ResealProgress) => void,
  ): Promise<ResealProgress> {
    const total = await this.countMeant(purpose);
    let progress: ResealProgress = { purpose, renewed: 0, unreadable: 0, total };
    for (let pass = 0; pass < PASSES; pass += 1) {
      const before = progress.renewed;
      progress = await this.pass({ ...progress, unreadable: 0 }, report);
      const left = await this.countMeant(purpose);
      if (left <= progress.unreadable || progress.renewed === before) {
        break;
      }
    }
    return progress;
  }

  private async pass(
    start: ResealProgress,
    report: (progress: ResealProgress) => void,
  ): Promise<ResealProgress> {
    const { purpose } = start;
    const { next } = statementsOf(TARGETS[purpose]);
    let progress = start;
    let after = { id: NO_ID, service: '' };
    for (;;) {
      const parameters = [...this.meant(purpose), after.id, after.service, BATCH];
      const rows = await this.database.query<ResealRow>(next, parameters);
      for (const row of rows) {
        const outcome = await this.renewOne(purpose, row);
        if (outcome !== 'overtaken') {
          progress = { ...progress, [outcome]: progress[outcome] + 1 };
        }
      }
      after = rows.at(-1) ?? after;
      if (rows.length > 0) {
        report(progress);
      }
      if (rows.length < BATCH) {
        return progress;
      }
    }
  }

  private async renewOne(
    purpose: ResealPurpose,
    row: ResealRow,
  ): Promise<'renewed' | 'unreadable' | 'overtaken'> {
    const { owner, isSealed, bytes } = row;
    try {
      const text = isSealed ? this.box.open(purpose, owner, bytes) : bytes.toString('utf8');
      const sealed = this.box.seal(purpose, owner, text);
      const { replace } = statementsOf(TARGETS[purpose]);
      const replaced = await this.database.query(replace, [row.id, row.service, bytes, sealed]);
      return replaced.length > 0 ? 'renewed' : 'overtaken';
    } catch (error) {
      if (error instanceof BrokenSealError) {
        return 'unreadable';
      }
      throw error;
    }
  }

  private async countMeant(purpose: ResealPurpose): Promise<number> {
    const { count } = statementsOf(TARGETS[purpose]);
    const [row] = await this.database.query<{ count: number }>(count, this.meant(purpose));
    return row?.count ?? 0;
  }

  private meant(purpose: ResealPurpose): [keyId: Buffer, isPlainMeant: boolean] {
    return [this.box.currentKeyId(purpose), this.sealsPlain && this.isSealing(purpose)];
  }
}

const CONTENTS: readonly ContentPurpose[] = [
  'account-settings',
  'account-credentials',
  'agent-request',
];

function isContent(purpose: ResealPurpose): purpose is ResealPurpose & ContentPurpose {
  return CONTENTS.some((one) => one === purpose);
}

/** SQL for values of another key than `$1` (bytes 2 to 5), and plain ones if `$2` is true. */
function statementsOf({ table, id, service, value, owner, form }: Target) {
  const isOld = `substring(${value} FROM 2 FOR 4) <> $1`;
  const isMeant =
    form === null
      ? `(${isOld} OR $2::boolean IS NULL)`
      : `((${form} = 'sealed' AND ${isOld}) OR (${form} = 'plain' AND $2::boolean))`;
  return {
    count: `SELECT count(*)::int AS "count" FROM "${table}"
      WHERE ${value} IS NOT NULL AND ${isMeant}`,
    plain:
      form &&
      `SELECT count(*)::int AS "count" FROM "${table}"
        WHERE ${value} IS NOT NULL AND ${form} = 'plain'`,
    /** The next `$5` of them after `$3` and `$4`, in the order of their keys. */
    next: `
      SELECT ${id} AS "id", ${service} AS "service", ${owner} AS "owner", ${value} AS "bytes",
        ${form === null ? 'true' : `${form} = 'sealed'`} AS "isSealed"
      FROM "${table}"
      WHERE ${value} IS NOT NULL AND ${isMeant} AND (${id}, ${service}) > ($3::uuid, $4)
      ORDER BY ${id}, ${service} LIMIT $5`,
    /** Replaces only the value that was read, `$3`: a concurrent write of a server wins. */
    replace: `
      UPDATE "${table}" SET ${value} = $4${form === null ? '' : `, ${form} = 'sealed'`}
      WHERE ${id} = $1 AND ${service} = $2 AND ${value} = $3 RETURNING 1`,
  };
}
