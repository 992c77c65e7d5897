import { AUTH_VARIABLES } from './env.auth.js';
import { MTLS_VARIABLES } from './env.mtls.js';
import { OPERATIONS_VARIABLES } from './env.operations.js';
import { PROVIDER_VARIABLES } from './env.providers.js';
import { SERVER_VARIABLES } from './env.server.js';
import { VARIABLE_NAMES, variableOf } from './env.js';
import { validateEnvironment } from './environment-class.js';

describe('the table of variables', () => {
  it('declares each name in one group file only', () => {
    const names = [
      SERVER_VARIABLES,
      AUTH_VARIABLES,
      PROVIDER_VARIABLES,
      MTLS_VARIABLES,
      OPERATIONS_VARIABLES,
    ].flatMap((group) => Object.keys(group));
    expect(names).toHaveLength(VARIABLE_NAMES.length);
  });

  it('has defaults that its own rules accept', () => {
    const defaults = VARIABLE_NAMES.map((name) => [name, variableOf(name).default] as const);
    expect(validateEnvironment(new Map(defaults))).toEqual([]);
  });

  it('clamps one variable and refuses the others beyond their range', () => {
    const clamped = VARIABLE_NAMES.filter((name) => 'clamp' in variableOf(name));
    expect(clamped).toEqual(['AUTH_OFFBOARDING_INTERVAL_SECONDS']);
  });

  it.each(VARIABLE_NAMES)('says in a sentence what %s does', (name) => {
    expect(variableOf(name).doc).toMatch(/^[A-Z].+\.$/);
  });
});
