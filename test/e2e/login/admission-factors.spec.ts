import { VARIABLE_NAMES, variableOf } from '../../../src/server/config/settings.js';
import { FACTORS, GROUPS, OTHERS, ROWS } from './admission-factors.js';

describe('the policies under which the endpoints are tried', () => {
  it('varies every variable of the policy, except those that are listed with a reason', () => {
    const policy = VARIABLE_NAMES.filter((name) => GROUPS[variableOf(name).group] === 'policy');
    const listed = OTHERS.flatMap(([, names]) => names);
    expect([...FACTORS, ...listed].sort()).toEqual([...policy].sort());
  });

  it('has at least sixty policies, each with a value for every variable', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(60);
    for (const row of ROWS) {
      expect(Object.keys(row).sort()).toEqual([...FACTORS].sort());
    }
  });
});
