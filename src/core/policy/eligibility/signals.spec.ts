import { judgeProviders } from '../admission/access.js';
import { judgeSignalledIdentity, judgeSignals, type SignalFact } from './signals.js';

const RULES = { enabled: true, intervalSeconds: 3600, strict: false };
const fact = (source: SignalFact['source'], isAllowed: boolean): SignalFact => ({
  ...{ source, isAllowed, at: 0 },
});
const YES = fact('directory', true);
const NO = fact('directory', false);
const SIGN_OUT = fact('sign-out', false);

describe(judgeSignals.name, () => {
  it.each<[string, readonly SignalFact[], readonly string[], boolean, string | null]>([
    ['no signal', [], [], true, null],
    ['approval by the directory', [YES], [], true, null],
    ['refusal by the directory', [NO], [], true, 'directory_inactive'],
    [
      'refusal by the stream next to an approval',
      [YES, fact('shared-signals', false)],
      [],
      true,
      'signal_disabled',
    ],
    ['a required directory without the person', [], ['people'], true, 'directory_missing'],
    [
      'approval by another source',
      [fact('shared-signals', true)],
      ['people'],
      true,
      'directory_missing',
    ],
    ['a required directory with the person', [YES], ['people'], true, null],
    ['a required directory that has never shown an active person', [], ['people'], false, null],
    [
      'refusal by a required directory that is empty',
      [NO],
      ['people'],
      false,
      'directory_inactive',
    ],
    ['a required directory of another provider', [], ['guild'], true, null],
    ['a sign-out', [YES, SIGN_OUT], [], true, 'signed_out'],
    [
      'refusal by the directory of a person who is signed out',
      [SIGN_OUT, NO],
      [],
      true,
      'directory_inactive',
    ],
    [
      'a signed-out person without the directory',
      [SIGN_OUT],
      ['people'],
      true,
      'directory_missing',
    ],
  ])('judges %s', (_what, signals, directories, hasDirectory, reason) => {
    const decision = judgeSignals({ provider: 'people', signals, hasDirectory }, directories);
    expect(decision).toEqual(reason === null ? { isAllowed: true } : { isAllowed: false, reason });
  });
});

describe('an identity about which no source reported anything', () => {
  it('is allowed, also where its directory is required', () => {
    expect(judgeSignals({ provider: 'people' })).toEqual({ isAllowed: true });
    expect(judgeSignals({ provider: 'people' }, ['people'])).toEqual({ isAllowed: true });
  });
});

describe(judgeSignalledIdentity.name, () => {
  const record = { provider: 'people', reason: null, checkedAt: 0, failures: 0 };

  it('admits only with both, eligibility and signals', () => {
    const judge = (status: 'eligible' | 'ineligible', signals: readonly SignalFact[]) =>
      judgeSignalledIdentity({ ...record, status, signals }, RULES, 0).isAllowed;
    expect(judge('eligible', [YES])).toBe(true);
    expect(judge('eligible', [NO])).toBe(false);
    expect(judge('ineligible', [YES])).toBe(false);
  });

  it('demands another login of a person who is signed out, unless the rules refuse it', () => {
    const judge = (status: 'eligible' | 'ineligible') =>
      judgeSignalledIdentity({ ...record, status, signals: [SIGN_OUT] }, RULES, 0);
    expect(judge('eligible')).toEqual({ isAllowed: false, code: 'provider-required' });
    expect(judge('ineligible')).toEqual({ isAllowed: false, code: 'not-eligible' });
  });

  it('leaves a second identity of a keyless account open', () => {
    const identities = [
      { ...record, status: 'eligible' as const, signals: [NO] },
      { ...record, provider: 'guild', status: 'eligible' as const },
    ];
    const judge = (required: readonly string[]) =>
      judgeProviders(required, { isKeyless: true, identities }, RULES, 0);
    expect(judge([])).toMatchObject({ isAllowed: true });
    expect(judge(['people'])).toEqual({
      ...{ isAllowed: false, code: 'not-eligible', provider: 'people' },
    });
  });
});
