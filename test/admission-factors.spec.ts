import { VARIABLE_NAMES, variableOf } from '../src/config/environment/env.js';
import { FACTORS, GROUPS, OTHERS, ROWS } from './e2e/admission-factors.js';

describe('the policies under which the endpoints are tried', () => {
  it('vary every variable of the policy, save those that are listed with a reason', () => {
    const policy = VARIABLE_NAMES.filter((name) => GROUPS[variableOf(name).group] === 'policy');
    const listed = OTHERS.flatMap(([, names]) => names);
    expect([...FACTORS, ...listed].sort()).toEqual([...policy].sort());
  });

  it('are at least sixty, and each gives a value to every variable', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(60);
    for (const row of ROWS) {
      expect(Object.keys(row).sort()).toEqual([...FACTORS].sort());
    }
  });
});
