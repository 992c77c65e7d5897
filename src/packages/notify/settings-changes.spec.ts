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
  ])('refuses a channel that a sender would skip: %j', (fields) => {
    expect(reasonOf(() => newChannel(fields))).toBe('invalid');
  });
});

describe('changes of the channels', () => {
  it('keeps every other field and channel', () => {
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

  it('refuses changes that cannot be made', () => {
    expect(reasonOf(() => addChannel(settings, channel()))).toBe('exists');
    expect(reasonOf(() => removeChannel(settings, 'b'))).toBe('not-found');
    expect(reasonOf(() => changeChannel(settings, 'a', { url: 'no address' }))).toBe('invalid');
    expect(reasonOf(() => addChannel({ notificationChannelsV1: {} }, channel()))).toBe(
      'not-a-list',
    );
  });

  it.each(['short', 'whsec_A', `whsec_${Buffer.alloc(15).toString('base64')}`])(
    'refuses the new signing secret %j, which is shorter than 16 bytes',
    (signingSecret) => {
      expect(() => newChannel({ url: URL, signingSecret })).toThrow(/at least 16 bytes/);
      expect(() => changeChannel(settings, 'a', { signingSecret })).toThrow(/at least 16 bytes/);
    },
  );

  it('replaces a whsec_ secret that is too short without signing with it', () => {
    const weak = { notificationChannelsV1: [{ id: 'a', url: URL, signingSecret: 'whsec_A' }] };
    expect(readPreferences(weak).channels).toEqual([]);
    const secret = makeSigningSecret();
    const changed = changeChannel(weak, 'a', { signingSecret: secret }, NOW);
    expect(readPreferences(changed, NOW)).toMatchObject({
      channels: [{ secrets: [secret] }],
      problems: [],
    });
  });

  it('signs with the previous secret for a day', () => {
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

it('changes the given preferences, and keeps the rest', () => {
  const before = { ...settings, notificationsSettingsV1: { v: 1, ready: false, later: 1 } };
  expect(changePreferences(before, { pushEnabled: false })).toEqual({
    ...settings,
    notificationsSettingsV1: { v: 1, ready: false, later: 1, pushEnabled: false },
  });
  expect(changePreferences({}, { ready: true })).toEqual({
    notificationsSettingsV1: { v: 1, ready: true },
  });
});
