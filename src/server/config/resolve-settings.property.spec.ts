import fc from 'fast-check';
import { unicodeText } from '../../../test/helpers/unicode-text.js';
import { ConfigurationError } from './environment/configuration-error.js';
import { resolveSettings } from './resolve-settings.js';
import { SECRET_NAMES, VARIABLE_NAMES, variableOf, type Settings } from './settings.js';

type Environment = Record<string, string>;

const PLAUSIBLE = [
  'true',
  '0',
  '1',
  '-1',
  '99999999999999999999',
  'okta',
  'okta,github',
  'mtls',
  '"a,b',
  'direct',
  'optional',
  'plaintext_only',
  'default',
  'enterprise-keyless-only',
  'https://gate.example.com',
  'http://gate.example.com/?a#b',
  'http://[::1',
  'postgres://db/gate',
  'myapp://',
  '::/0',
  '[]',
  '[{}]',
  '[{"id":"okta","type":"oidc","issuer":"https://a.b","clientId":"c","clientSecret":"d"}]',
  '{"__proto__":1}',
  '/',
  '/dev/null',
  '\u0000',
  'x'.repeat(40),
];

const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<string>(...VARIABLE_NAMES) },
  { weight: 2, arbitrary: fc.constantFrom(...SECRET_NAMES.map((secret) => `${secret}_FILE`)) },
  { weight: 1, arbitrary: fc.string().map((text) => `AUTH_${text}`) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'PATH') },
);
const text = fc.oneof(fc.constantFrom(...PLAUSIBLE), fc.string(), unicodeText());
const environments = fc
  .array(fc.tuple(name, text), { maxLength: 25 })
  .map((pairs) => Object.fromEntries(pairs));

function resolvedOrRefused(environment: Environment): Settings | ConfigurationError {
  try {
    return resolveSettings(environment).settings;
  } catch (error) {
    if (error instanceof ConfigurationError) {
      return error;
    }
    throw error;
  }
}

describe('resolveSettings, with any environment', () => {
  it('returns settings or a ConfigurationError with at least one problem in words', () => {
    fc.assert(
      fc.property(environments, (environment) => {
        const outcome = resolvedOrRefused(environment);
        if (!(outcome instanceof ConfigurationError)) {
          return Object.isFrozen(outcome);
        }
        return (
          outcome.problems.length > 0 &&
          outcome.problems.every(
            (p) =>
              p.message.endsWith('.') ||
              p.message.endsWith('?') ||
              p.message.includes('openssl rand'),
          )
        );
      }),
      { numRuns: 400 },
    );
  });

  it('reports the problem of every invalid variable', () => {
    fc.assert(
      fc.property(environments, (environment) => {
        const outcome = resolvedOrRefused(environment);
        const reported = outcome instanceof ConfigurationError ? outcome.problems : [];
        const wrongPorts = /^\s*[+-]?\d+\s*$/.test(environment['PORT'] ?? '0')
          ? Number(environment['PORT'] ?? 0) < 0 || Number(environment['PORT'] ?? 0) > 65_535
          : environment['PORT'] !== '';
        return reported.some(({ variable }) => variable === 'PORT') === wrongPorts;
      }),
      { numRuns: 200 },
    );
  });

  it('never prints the value of a secret', () => {
    const marked = fc
      .tuple(fc.constantFrom(...SECRET_NAMES), fc.constantFrom(...PLAUSIBLE), environments)
      .map(([secret, prefix, environment]) => ({
        ...environment,
        [secret]: `${prefix}Hunter2-${prefix}`,
      }));
    fc.assert(
      fc.property(marked, (environment) => {
        try {
          const { warnings, findings } = resolveSettings(environment);
          return !JSON.stringify([warnings, findings]).includes('Hunter2');
        } catch (error) {
          return !String(error).includes('Hunter2');
        }
      }),
      { numRuns: 400 },
    );
  });

  it('accepts every variable at its own default', () => {
    fc.assert(
      fc.property(fc.subarray(VARIABLE_NAMES), (names) => {
        const environment = names.map((each) => [each, String(variableOf(each).default ?? '')]);
        expect(resolveSettings(Object.fromEntries(environment) as Environment)).toEqual(
          resolveSettings({}),
        );
      }),
      { numRuns: 50 },
    );
  });
});
