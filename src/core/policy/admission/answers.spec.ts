import { policyWith } from '../../../../test/fixtures/policy-fixture.js';
import { findLockouts } from '../findings/lockout.js';
import { offersAnswers } from './answers.js';

const PLAINTEXT = { encryption: { storagePolicy: 'plaintext_only' } } as const;
const NO_KEYS = { auth: { keyChallengeEnabled: false } } as const;
const ON = { answers: { enabled: true } } as const;
const OFF = { answers: { enabled: false } } as const;

describe(offersAnswers.name, () => {
  it.each([
    ['is on where accounts have keys', {}, true],
    ['is off where no content is encrypted', PLAINTEXT, false],
    ['is off without device keys', NO_KEYS, false],
    ['can be switched off', OFF, false],
    ['can be switched on without keys', { ...PLAINTEXT, ...ON }, true],
  ])('%s', (_case, change, expected) => {
    expect(offersAnswers(policyWith(change))).toBe(expected);
  });

  it.each([
    [{ ...PLAINTEXT, ...ON }, true],
    [{ ...NO_KEYS, ...ON }, true],
    [PLAINTEXT, false],
    [ON, false],
  ])('warns for %j only where no person could allow: %s', (change, expected) => {
    const codes = findLockouts(policyWith(change)).map(({ code }) => code);
    expect(codes.includes('answers-without-keys')).toBe(expected);
  });
});
