import { rulesOf } from '../../config/eligibility-rules.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import type { Settings } from '../../config/settings.js';
import { judgeEligibility } from '../../policy/eligibility.js';
import { judgeStay, predictStay, type Stay, type StayingPolicy } from '../../policy/policy-plan.js';
import type { AdministeredIdentity } from '../../storage/account-admin.repository.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { environmentToCheck } from '../environment-file.js';
import { EXIT } from '../exit-codes.js';
import { formatTime } from '../format-time.js';
import { withDatabase } from '../operator-database.js';
import { requireAccount } from './account.command.js';

const BATCH = 500;
const MAX_EXAMPLES = 20;

/** Says of one account what each rule is, what it saw and when. */
export function explain(context: CliContext): Promise<number> {
  return withDatabase(context, async ({ accounts, settings }) => {
    const account = await requireAccount(accounts, context.args[0] ?? '');
    const stay = judgeStay(policyOf(settings), account.identities, Date.now());
    const isAllowed = stay === 'allowed' && account.disabledAt === null;
    const providers = settings.auth.requiredLoginProviders.map((provider) => {
      const identity = account.identities.find((one) => one.provider === provider) ?? null;
      return { provider, required: true, ...explainIdentity(settings, provider, identity) };
    });
    const others = account.identities
      .filter(({ provider }) => !settings.auth.requiredLoginProviders.includes(provider))
      .map((identity) => ({
        provider: identity.provider,
        required: false,
        ...explainIdentity(settings, identity.provider, identity),
      }));
    const explained = [...providers, ...others];
    context.output.result(
      { accountId: account.id, isAllowed, disabledAt: account.disabledAt, providers: explained },
      [
        `${account.id} is ${isAllowed ? 'let in' : 'refused'}.`,
        account.disabledAt === null
          ? 'The account is enabled.'
          : `The account is disabled since ${formatTime(account.disabledAt)}.`,
        ...explained.flatMap((one) => wordsFor(one)),
      ].join('\n'),
    );
    return EXIT.ok;
  });
}

/** Says how many accounts would lose access under the variables of another file. */
export function plan(context: CliContext): Promise<number> {
  if (context.options.file === undefined) {
    throw new CliError('--file must name the changed variables.', {
      exitCode: EXIT.usage,
      code: 'usage',
    });
  }
  const changed = policyOf(resolveSettings(environmentToCheck(context)).settings);
  return withDatabase(context, async ({ accounts, settings }) => {
    const present = policyOf(settings);
    const now = Date.now();
    const counts = { accounts: 0, lose: 0, gain: 0, unknown: 0 };
    const losers: string[] = [];
    let after: string | null = null;
    do {
      const page = await accounts.page(after, BATCH);
      for (const { id, identities, disabledAt } of page) {
        const before: Stay = disabledAt === null ? judgeStay(present, identities, now) : 'refused';
        const then: Stay =
          disabledAt === null ? predictStay(present, changed, identities, now) : 'refused';
        counts.accounts += 1;
        counts.lose += before === 'allowed' && then === 'refused' ? 1 : 0;
        counts.gain += before === 'refused' && then === 'allowed' ? 1 : 0;
        counts.unknown += then === 'unknown' ? 1 : 0;
        if (before === 'allowed' && then === 'refused' && losers.length < MAX_EXAMPLES) {
          losers.push(id);
        }
      }
      after = page.length === BATCH ? (page.at(-1)?.id ?? null) : null;
    } while (after !== null);
    context.output.result({ ...counts, examples: losers }, planWords(counts, losers));
    return EXIT.ok;
  });
}

function policyOf({ auth, providers }: Settings): StayingPolicy {
  return { ...auth, rules: new Map(providers.map((one) => [one.id, rulesOf(one)])) };
}

function explainIdentity(settings: Settings, id: string, identity: AdministeredIdentity | null) {
  const provider = settings.providers.find((one) => one.id === id);
  const rules = provider === undefined ? null : rulesOf(provider);
  const facts = identity?.facts ?? null;
  const verdict =
    rules === null || identity === null || facts === null
      ? null
      : judgeEligibility(rules, { subject: identity.subject, facts });
  return { isConfigured: provider !== undefined, identity, rules, verdict };
}

type Explained = { readonly provider: string; readonly required: boolean } & ReturnType<
  typeof explainIdentity
>;

function wordsFor({ provider, required, isConfigured, identity, rules, verdict }: Explained) {
  const title = `${provider} (${required ? 'required' : 'not required'}${isConfigured ? '' : ', not configured'}):`;
  if (identity === null) {
    return [title, '  No identity is linked: provider-required.'];
  }
  const { login, status, reason, checkedAt, nextCheckAt, failures, facts } = identity;
  return [
    title,
    `  Linked as ${login ?? identity.subject}; stored result: ${status}${reason === null ? '' : ` (${reason})`}.`,
    `  Last definite answer ${timeWords(checkedAt)}; next check ${timeWords(nextCheckAt)}; ${failures} without an answer since.`,
    ...Object.entries(rules ?? {})
      .filter(([, rule]) => Array.isArray(rule) && rule.length > 0)
      .map(([name, rule]) => `  Rule ${name}: ${(rule as readonly string[]).join(', ')}`),
    `  The provider said: ${facts === null ? 'nothing yet' : JSON.stringify(facts)}`,
    `  By these rules: ${verdict === null ? 'not judged' : wordsOf(verdict)}.`,
  ];
}

function wordsOf(verdict: { readonly status: string; readonly reason?: string }): string {
  return verdict.reason === undefined ? verdict.status : `${verdict.status} (${verdict.reason})`;
}

function timeWords(ms: number | null): string {
  return ms === null ? 'never' : formatTime(ms);
}

function planWords(
  { accounts, lose, gain, unknown }: Readonly<Record<string, number>>,
  losers: readonly string[],
): string {
  return [
    `Of ${accounts} accounts ${lose} would lose access and ${gain} would get it.`,
    `${unknown} depend on what only the provider can tell: they are checked after the change.`,
    ...(losers.length === 0 ? [] : ['Would lose access:', ...losers.map((id) => `  ${id}`)]),
  ].join('\n');
}
