import { readRequestPreviews, showsRequestPreview, type PreviewFacts } from './request-previews.js';

describe('Events 12: the request-preview preference', () => {
  it.each<[string, unknown, boolean]>([
    ['switched off', { requestPreviews: false }, false],
    ['switched on', { requestPreviews: true }, true],
    ['dropped by an older app', { v: 1, pushEnabled: true }, true],
    ['emptied by an older app', { requestPreviews: null }, true],
    ['of a kind nobody knows', { requestPreviews: 'no' }, true],
    ['of an account that never saved any', undefined, true],
    ['of settings that are broken', 'x', true],
  ])('%s', (_name, settings, expected) => {
    expect(readRequestPreviews(settings)).toBe(expected);
  });
});

describe('Events 4: request previews', () => {
  const on: PreviewFacts = { isBuiltIn: true, settings: {}, isOnForDevice: true };

  it.each<[string, Partial<PreviewFacts>, boolean]>([
    ['show when everybody agrees', {}, true],
    ['are for development builds', { isBuiltIn: false }, false],
    ['can be off for the account', { settings: { requestPreviews: false } }, false],
    ['can be off for the device', { isOnForDevice: false }, false],
  ])('%s', (_name, change, expected) => {
    expect(showsRequestPreview({ ...on, ...change })).toBe(expected);
  });
});
