import type { ContentAtRest } from './content-at-rest.js';
import type { Database } from '../database.js';
import { BrokenSealError, type SealedBox, type SealPurpose } from './sealed-box.js';

/** A value whose seal is to be renewed, or that is to be sealed. */
interface ResealRow {
  /** The row's key; `service` is empty where the account or identity alone is the key. */
  readonly id: string;
  readonly service: string;
  /** The owner of the seal. */
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
  /** null where every value is sealed. */
  readonly form: string | null;
}

const TARGETS = {
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
} as const satisfies Partial<Record<SealPurpose, Target>>;

/** What is sealed for longer than a few minutes. */
export type ResealPurpose = keyof typeof TARGETS;

const RESEAL_PURPOSES = Object.keys(TARGETS) as readonly ResealPurpose[];

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** How far one kind of value is. */
export interface ResealProgress {
  readonly purpose: ResealPurpose;
  readonly renewed: number;
  /** Values that no master secret of this process opens: they stay as they are. */
  readonly unreadable: number;
  /** As many as were to be renewed when it began. */
  readonly total: number;
}

/** Values read at a time; each is replaced by a statement of its own, so that no server waits. */
const BATCH = 200;
/** A running server that still seals with the old secret makes new work: it is not chased for ever. */
const PASSES = 3;

/**
 * Renews every lasting seal under the current master secret, and seals what was kept plain where the
 * settings now say so. It can be ended and begun again at any time, beside running servers: whatever
 * is renewed is no longer looked for, and each value is old or new, never neither.
 */
export class Reseal {
  constructor(
    private readonly database: Database,
    private readonly box: SealedBox,
    private readonly atRest: ContentAtRest,
  ) {}

  /** @param report called after every batch */
  async run(report: (progress: ResealProgress) => void): Promise<ResealProgress[]> {
    const results: ResealProgress[] = [];
    for (const purpose of RESEAL_PURPOSES) {
      results.push(await this.renew(purpose, report));
    }
    return results;
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
    begun: ResealProgress,
    report: (progress: ResealProgress) => void,
  ): Promise<ResealProgress> {
    const { purpose } = begun;
    const { next } = statementsOf(TARGETS[purpose]);
    let progress = begun;
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

  /** The parameters `$1` and `$2` of {@link statementsOf}. */
  private meant(purpose: ResealPurpose): [keyId: Buffer, isPlainMeant: boolean] {
    const isPlainMeant = purpose !== 'identity-credentials' && this.atRest.isSealing(purpose);
    return [this.box.currentKeyId(purpose), isPlainMeant];
  }
}

/**
 * Meant are values whose seal names (in bytes 2 to 5) another key than `$1`, and where `$2` holds,
 * those that were kept plain.
 */
function statementsOf({ table, id, service, value, owner, form }: Target) {
  const isOld = `substring(${value} FROM 2 FOR 4) <> $1`;
  const isMeant =
    form === null
      ? `(${isOld} OR $2::boolean IS NULL)`
      : `((${form} = 'sealed' AND ${isOld}) OR (${form} = 'plain' AND $2::boolean))`;
  return {
    count: `SELECT count(*)::int AS "count" FROM "${table}"
      WHERE ${value} IS NOT NULL AND ${isMeant}`,
    /** The next `$5` of them after `$3` and `$4`, in the order of their keys. */
    next: `
      SELECT ${id} AS "id", ${service} AS "service", ${owner} AS "owner", ${value} AS "bytes",
        ${form === null ? 'true' : `${form} = 'sealed'`} AS "isSealed"
      FROM "${table}"
      WHERE ${value} IS NOT NULL AND ${isMeant} AND (${id}, ${service}) > ($3::uuid, $4)
      ORDER BY ${id}, ${service} LIMIT $5`,
    /** Replaces exactly the value that was read, `$3`: what a server wrote meanwhile stays. */
    replace: `
      UPDATE "${table}" SET ${value} = $4${form === null ? '' : `, ${form} = 'sealed'`}
      WHERE ${id} = $1 AND ${service} = $2 AND ${value} = $3 RETURNING 1`,
  };
}
