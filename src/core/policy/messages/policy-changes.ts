import type { AllowRule } from './policy-messages.js';
import type { Statement } from './statement.js';

/** A difference between the present policy and a planned one. */
export type Change =
  | {
      readonly kind: 'rule';
      readonly key: string;
      readonly provider: string;
      readonly rule: AllowRule;
      /** Empty = no such rule. */
      readonly before: readonly string[];
      readonly after: readonly string[];
    }
  | {
      readonly kind: 'sentence';
      readonly key: string;
      /** null = the sentence is new. */
      readonly before: Statement | null;
      /** null = the sentence is gone. */
      readonly after: Statement | null;
    };

/** Pairs the sentences about the same subject, in the order of the policy. */
export function changesOf(present: readonly Statement[], planned: readonly Statement[]): Change[] {
  const [before, after] = [bySubject(present), bySubject(planned)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const pair = { before: before.get(key) ?? null, after: after.get(key) ?? null };
    if (pair.before?.message === pair.after?.message) {
      return [];
    }
    const { code, params } = (pair.before ?? pair.after) as Statement;
    return code === 'provider-rule'
      ? {
          kind: 'rule',
          key,
          provider: String(params['provider']),
          rule: params['rule'] as AllowRule,
          before: valuesOf(pair.before),
          after: valuesOf(pair.after),
        }
      : { kind: 'sentence', key, ...pair };
  });
}

/** Sentences of which the policy has only one. */
const SUBJECTS: Readonly<Record<string, string>> = {
  'signup-open': 'signup',
  'signup-invited': 'signup',
  'signup-refused': 'signup',
  'login-key': 'key',
  'login-key-off': 'key',
  'required-none': 'required',
  'required-providers': 'required',
  rechecked: 'rechecks',
  'not-rechecked': 'rechecks',
  'outage-strict': 'outage',
  'outage-lenient': 'outage',
  'content-encrypted': 'content',
  'content-plain': 'content',
  'content-optional': 'content',
  'plain-sealed': 'plain',
  'plain-readable': 'plain',
};

function bySubject(statements: readonly Statement[]): ReadonlyMap<string, Statement> {
  return new Map(statements.map((one) => [subjectOf(one), one]));
}

function subjectOf({ code, params }: Statement): string {
  const { provider = '', rule = '', resource = '' } = params;
  return [SUBJECTS[code] ?? code, provider, rule, resource].join(' ');
}

function valuesOf(statement: Statement | null): readonly string[] {
  return (statement?.params['values'] ?? []) as readonly string[];
}
