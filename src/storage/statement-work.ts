import type { Work } from '../common/trace.js';

const VERB = /\b(INSERT|UPDATE|DELETE|SELECT|BEGIN|COMMIT|ROLLBACK)\b/;
const TABLE = /\b(?:FROM|INTO|UPDATE|JOIN)\s+"(\w+)"/;

/** A statement as traces show it: what it does and where, never with which values. */
export function statementWork(sql: string): Work {
  const outer = sql.trimStart().startsWith('WITH') ? sql : withoutParts(sql);
  const verb = VERB.exec(outer)?.[1] ?? 'SQL';
  const table = TABLE.exec(outer)?.[1];
  return {
    name: table === undefined ? verb : `${verb} ${table}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': verb,
      ...(table !== undefined && { 'db.collection.name': table }),
    },
    onlyAsPart: true,
  };
}

/** A statement without what stands in parentheses: subqueries read from other tables. */
function withoutParts(sql: string): string {
  const shorter = sql.replaceAll(/\([^()]*\)/g, '');
  return shorter === sql ? sql : withoutParts(shorter);
}
