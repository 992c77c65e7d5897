import {
  ConfigurationError,
  type ConfigurationProblem,
} from './environment/configuration-error.js';
import { resolveSettings } from './resolve-settings.js';

const SECRET = 'a-master-secret-of-32-bytes-or-more!';

function problemsOf(environment: Record<string, string>): readonly ConfigurationProblem[] {
  try {
    resolveSettings(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
  return [];
}

describe('the addresses of PostgreSQL and Redis', () => {
  const ESCAPES =
    'must have special characters of the user and the password in percent-encoding: % as %25, / as %2F, ? as %3F, # as %23, @ as %40.';
  const ONE_HOST =
    'must have one host: a name, a virtual address or a proxy that leads to the primary.';

  it.each([
    ['p/w@db/gate', ESCAPES],
    ['12/w@db/gate', ESCAPES],
    ['p@s/w@db/gate', ESCAPES],
    ['p#w@db/gate', ESCAPES],
    ['12#w@db/gate', ESCAPES],
    ['p@s#w@db/gate', ESCAPES],
    ['p?w@db/gate', ESCAPES],
    ['12?w@db/gate', ESCAPES],
    ['p?w=w@db/gate', ESCAPES],
    ['p%w@db/gate', ESCAPES],
    ['pw%@db/gate', ESCAPES],
    ['pw%ff@db/gate', ESCAPES],
    ['pw@db1,db2/gate', ONE_HOST],
    ['pw@db1:5432,db2:5432/gate', ONE_HOST],
    ['pw@/gate?host=db1,db2', ONE_HOST],
    ['pw@db/gate?host=db1,db2', ONE_HOST],
    ['p%25%2F%3F%23%40w@db/gate', null],
    ['p@w@db/gate', null],
    ['pw@db:5432/gate?user=ann@tenant&application_name=a', null],
    ['pw@db:99999/gate', 'must be a full address that starts with postgres:// or postgresql://.'],
  ])('names what to write in the address postgres://ann:%s', (rest, message) => {
    const given = { DATABASE_URL: `postgres://ann:${rest}`, SERVICE_MASTER_SECRET: SECRET };
    expect(problemsOf(given)).toEqual(
      message === null ? [] : [{ variable: 'DATABASE_URL', message }],
    );
  });

  it.each([
    [':p#w@redis', ESCAPES],
    [':p/w@redis/1', ESCAPES],
    [':100%@redis', ESCAPES],
    [
      ':pw@a:6379,b:6379/0',
      'must have one host: REDIS_SENTINELS and REDIS_CLUSTER_NODES list several.',
    ],
  ])('names what to write in the address redis://%s', (rest, message) => {
    expect(problemsOf({ REDIS_URL: `redis://${rest}` })).toEqual([
      { variable: 'REDIS_URL', message },
    ]);
  });

  it.each([
    ['require', true],
    ['prefer', true],
    ['verify-ca', true],
    ['verify-full', false],
    ['no-verify', false],
    ['require&uselibpqcompat=true', false],
  ])('warns of sslmode=%s where it means verify-full: %s', (mode, isWarned) => {
    const DATABASE_URL = `postgres://u:p@db/gate?sslmode=${mode}`;
    const { warnings } = resolveSettings({ DATABASE_URL, SERVICE_MASTER_SECRET: SECRET });
    const warning = `DATABASE_URL has sslmode=${mode}, by which certificates are verified as by verify-full: write verify-full, or no-verify to trust any certificate.`;
    expect(warnings.includes(warning)).toBe(isWarned);
  });
});
