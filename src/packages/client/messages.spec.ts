import { SettingsConflict, SettingsUnreadable } from './settings/account-settings.js';
import { ContentUnreadable } from './crypto/account-content.js';
import { DeviceSealError } from './devices/device-sealing.js';
import { DeviceKeyError, OtherAccountKey } from './crypto/key-text.js';
import { ChallengeRefused } from './crypto/login-challenge.js';
import { failureMessage } from './messages.js';
import { WebPushKeyError } from './notifications/web-push-key.js';

describe(failureMessage.name, () => {
  it.each([
    new ChallengeRefused('expired', 'https://gate.example', 'The challenge has expired.'),
    new ContentUnreadable('not-authentic'),
    new DeviceKeyError('checksum'),
    new DeviceSealError('invalid-key'),
    new OtherAccountKey(),
    new SettingsConflict(),
    new SettingsUnreadable('The settings are not JSON.'),
    new WebPushKeyError('There is no key.'),
  ])('returns the message of $name', (error) => {
    expect(failureMessage(error)).toBe(error.message);
  });

  it('hides the details of unexpected errors', () => {
    expect(failureMessage(new Error('secret'))).not.toContain('secret');
  });
});
