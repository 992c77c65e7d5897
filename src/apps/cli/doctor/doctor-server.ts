import type { RedisOptions } from 'ioredis';
import { Timers } from '../../../common/runtime/timers.js';
import type { Settings } from '../../../server/config/settings.js';
import type { CliContext } from '../command.js';
import { EXIT } from '../cli-error.js';
import { resolveOrExplain } from '../../../server/check-configuration.js';
import { variablesToCheck } from '../server/config-report.js';
import {
  type CheckResult,
  describeResult,
  messageOf,
  resultsOf,
  runWithin,
} from './check-result.js';
import { checkDatabase, checkDisk } from './database-checks.js';
import { ConfigurationError } from '../../../server/config/environment/configuration-error.js';
import type { EnvironmentText } from '../../../server/config/environment/variable.js';
import { findExpiries } from '../../../core/policy/findings/expiry.js';
import type { LockoutFinding } from '../../../core/policy/findings/lockout.js';
import { readExpiries } from '../../../server/providers/certificate/expiry.js';
import { diagnoseProviders } from '../../../server/providers/provider-diagnosis.js';
import { Random } from '../../../common/runtime/random.js';
import {
  createClient,
  createListener,
  type RedisSettings,
} from '../../../server/storage/redis/redis-client.js';
import {
  findRefusals,
  isRefusal,
  operatorChannel,
  refusalOf,
} from '../../../server/storage/redis/redis-probe.js';
import { findWrongScheme } from '../../../server/storage/redis/redis-scheme.js';

interface Check {
  readonly name: string;
  /** Shown before a check that can take seconds. */
  readonly progress?: string;
  readonly run: (settings: Settings) => Promise<readonly CheckResult[]>;
}

const CHECKS: readonly Check[] = [
  { name: 'database', progress: 'Checking the database.', run: checkDatabase },
  { name: 'disk', run: checkDisk },
  { name: 'redis', progress: 'Checking Redis.', run: checkRedis },
  { name: 'expiry', run: checkExpiries },
  { name: 'providers', progress: 'Asking the identity providers.', run: checkProviders },
];

const LIMIT_MS = 60_000;

/** Exits with 1 if a check failed, and with 78 if the configuration is invalid. */
export async function run(context: CliContext<{ readonly file?: string }>): Promise<number> {
  const { output } = context;
  const results: CheckResult[] = [];
  const add = (found: readonly CheckResult[]): void => {
    results.push(...found);
    if (!output.isJson) {
      found.forEach((result) => output.result(result, describeResult(result)));
    }
  };
  const { settings, results: found } = await checkConfiguration(variablesToCheck(context));
  add(found);
  const timers = new Timers();
  for (const { name, progress, run: check } of CHECKS) {
    if (settings === null) {
      add([resultsOf(name).skipped('The configuration is invalid.')]);
      continue;
    }
    if (progress !== undefined) {
      output.note(progress);
    }
    add(await runWithin(LIMIT_MS, name, () => check(settings), timers));
  }
  const countOf = (status: CheckResult['status']): number =>
    results.filter((result) => result.status === status).length;
  const failed = countOf('failed');
  const warned = countOf('warning');
  const warnings = warned === 1 ? '1 warning' : `${warned} warnings`;
  const summary = `${failed} failed, ${warnings}, ${countOf('skipped')} not checked.`;
  output.result({ ok: failed === 0, checks: results }, summary);
  if (settings === null) {
    return EXIT.configuration;
  }
  return failed === 0 ? EXIT.ok : EXIT.refused;
}

const configuration = resultsOf('configuration');
const expiry = resultsOf('expiry');

/** @returns with null for settings with which the server would not start */
async function checkConfiguration(environment: EnvironmentText) {
  const resolved = await resolveOrExplain(environment);
  if (resolved instanceof ConfigurationError) {
    const problems = resolved.problems.map(({ variable, message }) =>
      configuration.failed(`${variable}: ${message}`),
    );
    const results = [...problems, ...resolved.warnings.map(configuration.warning)];
    return { results, settings: null };
  }
  const { settings, warnings, findings } = resolved;
  const results = [...warnings.map(configuration.warning), ...findings.flatMap(toResult)];
  return {
    results: results.length > 0 ? results : [configuration.ok('It is valid.')],
    settings,
  };
}

/** A notice states what is intended. */
function toResult({ severity, message }: LockoutFinding): CheckResult[] {
  if (severity === 'notice') {
    return [];
  }
  return [severity === 'error' ? configuration.failed(message) : configuration.warning(message)];
}

async function checkExpiries(settings: Settings): Promise<readonly CheckResult[]> {
  const timers = new Timers();
  const expiries = await readExpiries(settings, () => timers.nextTurn());
  const findings = findExpiries(expiries, Date.now());
  if (findings.length > 0) {
    return findings.map(({ severity, message }) =>
      severity === 'error' ? expiry.failed(message) : expiry.warning(message),
    );
  }
  const [first] = expiries.toSorted((one, other) => one.expiresAt - other.expiresAt);
  return [
    first === undefined
      ? expiry.skipped('No certificate, list or client secret with a known end is configured.')
      : expiry.ok(
          `The first of ${expiries.length} ends on ${new Date(first.expiresAt).toISOString().slice(0, 10)} (${first.variable}).`,
        ),
  ];
}

async function checkProviders(settings: Settings): Promise<readonly CheckResult[]> {
  const steps = await diagnoseProviders(settings);
  if (steps.length === 0) {
    return [resultsOf('providers').skipped('No identity provider is configured.')];
  }
  return steps.map(({ provider, step, severity, cause, message }) => ({
    check: 'providers',
    status: severity === 'error' ? 'failed' : severity,
    message: `${provider} ${step}: ${message}${cause === null ? '' : `  [${cause}]`}`,
  }));
}

const redis = resultsOf('redis');

const REDIS_LIMIT_MS = 5000;
const ONE_TRY: RedisOptions = {
  maxRetriesPerRequest: 0,
  retryStrategy: null,
  sentinelRetryStrategy: () => null,
  connectTimeout: REDIS_LIMIT_MS,
  commandTimeout: REDIS_LIMIT_MS,
};

async function checkRedis({ storage }: Pick<Settings, 'storage'>): Promise<readonly CheckResult[]> {
  const { redisUrl } = storage;
  if (redisUrl === null) {
    return [redis.skipped('REDIS_URL is not set: there is one replica.')];
  }
  const settings = { ...storage, redisUrl };
  const client = createClient(settings, ONE_TRY, { clusterRetryStrategy: null });
  let cause: unknown = null;
  client.on('error', (error: unknown) => {
    cause ??= error;
  });
  try {
    const refusals = [
      ...(await findRefusals(client)),
      ...(await findRefusedSubscription(settings, client)),
    ];
    return [
      refusals.length === 0
        ? redis.ok('It answers, and takes writes.')
        : redis.failed(`It refuses ${refusals.join('; ')}.`),
    ];
  } catch (error) {
    const failure = cause ?? error;
    const advice = isRefusal(failure) ? null : await findWrongScheme(settings);
    return [redis.failed(advice ?? messageOf(failure))];
  } finally {
    client.disconnect();
  }
}

async function findRefusedSubscription(
  settings: RedisSettings,
  client: ReturnType<typeof createClient>,
): Promise<readonly string[]> {
  const listener = createListener(settings, client, ONE_TRY, new Random());
  listener.on('error', () => undefined);
  const channel = operatorChannel(client);
  try {
    const refusal = await refusalOf(`SUBSCRIBE ${channel}`, listener.subscribe(channel));
    return refusal === null ? [] : [refusal];
  } finally {
    listener.disconnect();
  }
}
