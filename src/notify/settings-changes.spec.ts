import { readPreferences } from './preferences.js';
import {
  addChannel,
  changeChannel,
  changePreferences,
  ChannelRefused,
  makeSigningSecret,
  newChannel,
  removeChannel,
} from './settings-changes.js';

const URL = 'https://hooks.example/a';
const NOW = 1_790_000_000_000;
const DAY = 24 * 60 * 60_000;
const channel = (id = 'a', signingSecret: string | null = null) =>
  newChannel({ id, url: URL, signingSecret });
const settings = { other: 7, notificationChannelsV1: [channel()] };
const reasonOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error instanceof ChannelRefused ? error.reason : error;
  }
};

describe(newChannel.name, () => {
  it('has the defaults of the specification, and an id of its own', () => {
    const [one, other] = [1, 2].map(() => newChannel({ url: URL, signingSecret: null }));
    expect(one?.id).toMatch(/^ch_[\w-]{12}$/);
    expect(one?.id).not.toBe(other?.id);
    expect(readPreferences({ notificationChannelsV1: [one] })).toMatchObject({
      problems: [],
      channels: [
        {
          enabled: true,
          topics: { ready: true, permission_request: true, user_action_request: true },
          readyIncludeMessageText: false,
          requestPreviews: true,
          secrets: [],
        },
      ],
    });
  });

  it.each([
    { url: 'ftp://hooks.example', signingSecret: null },
    { url: '', signingSecret: null },
    { url: URL, signingSecret: null, preset: 'pigeon' },
    { url: 'https://ntfy.sh/', signingSecret: null, preset: 'ntfy' },
  ])('refuses what a sender would skip: %j', (fields) => {
    expect(reasonOf(() => newChannel(fields))).toBe('invalid');
  });
});

describe('changes of the channels', () => {
  it('keep every other field and channel', () => {
    const broken = { id: 'b', url: 7, later: true };
    const before = { ...settings, notificationChannelsV1: [channel(), broken] };
    const added = addChannel(before, channel('c'));
    const changed = changeChannel(added, 'a', { url: `${URL}/b` });
    expect(changed).toEqual({
      other: 7,
      notificationChannelsV1: [{ ...channel(), url: `${URL}/b` }, broken, channel('c')],
    });
    expect(removeChannel(changed, 'b')).toMatchObject({
      notificationChannelsV1: [{ id: 'a' }, { id: 'c' }],
    });
    expect(changeChannel(changed, 'b', { enabled: false })).toMatchObject({
      notificationChannelsV1: [{ id: 'a' }, { ...broken, enabled: false }, { id: 'c' }],
    });
  });

  it('are refused where they cannot be made', () => {
    expect(reasonOf(() => addChannel(settings, channel()))).toBe('exists');
    expect(reasonOf(() => removeChannel(settings, 'b'))).toBe('not-found');
    expect(reasonOf(() => changeChannel(settings, 'a', { url: 'no address' }))).toBe('invalid');
    expect(reasonOf(() => addChannel({ notificationChannelsV1: {} }, channel()))).toBe(
      'not-a-list',
    );
  });

  it('sign with the secret before a new one for a day', () => {
    const [first, second] = [makeSigningSecret(), makeSigningSecret()];
    const secretsAt = (fields: object, now: number) =>
      readPreferences(fields, now).channels[0]?.secrets;
    const signed = changeChannel(settings, 'a', { signingSecret: first }, NOW);
    expect(secretsAt(signed, NOW)).toEqual([first]);
    const same = changeChannel(signed, 'a', { signingSecret: first }, NOW);
    expect(same).toEqual(signed);
    const rotated = changeChannel(signed, 'a', { signingSecret: second }, NOW);
    expect(secretsAt(rotated, NOW + DAY - 1)).toEqual([second, first]);
    expect(secretsAt(rotated, NOW + DAY)).toEqual([second]);
    const ended = changeChannel(rotated, 'a', { signingSecret: null }, NOW);
    expect(readPreferences(ended, NOW)).toMatchObject({
      problems: [],
      channels: [{ secrets: [] }],
    });
  });
});

it('changes the preferences that are given, and keeps the rest', () => {
  const before = { ...settings, notificationsSettingsV1: { v: 1, ready: false, later: 1 } };
  expect(changePreferences(before, { pushEnabled: false })).toEqual({
    ...settings,
    notificationsSettingsV1: { v: 1, ready: false, later: 1, pushEnabled: false },
  });
  expect(changePreferences({}, { ready: true })).toEqual({
    notificationsSettingsV1: { v: 1, ready: true },
  });
});
