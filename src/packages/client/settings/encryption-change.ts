import type { AccountMode } from '../../../core/policy/operator-policy.js';
import type { Content } from '../../../core/protocol/content.js';
import type { AccountContent, CredentialPurpose, SettingsMark } from '../crypto/account-content.js';
import type { AccountPin } from './account-pin.js';
import {
  openNewest,
  SettingsRefused,
  untilStored,
  type SettingsAccess,
  type SettingsContent,
  type SettingsWait,
} from './account-settings.js';
import type { GatehouseClient } from '../api/api-client.js';
import { onRefusal } from '../api/problem.js';

/**
 * Changes the encryption mode of a keyed account, with everything that it stores: all of it, or
 * nothing. Pins the new mode on this device; the others ask. Refused with
 * `account-optout-disabled` where the server leaves no choice.
 *
 * @param client with the account's token
 * @param access `content` is of the account's own key; another key would make everything unreadable
 * @throws ContentUnreadable and SettingsUnreadable where another client stored something in a form
 *   of its own, SettingsRefused, SettingsConflict
 */
export async function changeEncryption(
  client: Pick<GatehouseClient, 'settings' | 'credentials' | 'encryption'>,
  { content, pins }: SettingsAccess & { readonly content: AccountContent },
  toMode: AccountMode,
  wait?: SettingsWait,
): Promise<void> {
  await untilStored(async () => {
    const pin = await pins.read();
    const stored = await client.settings.read();
    const conversion = new Conversion(content, pin, toMode);
    const settings = await conversion.settings(stored.content);
    const credentials = await client.credentials.list();
    const migration = client.encryption.migrate({
      toMode,
      expectedSettingsVersion: stored.version,
      settings: settings.content,
      credentials: credentials.map(({ service, content: one, updatedAt }) => ({
        service,
        updatedAt,
        content: conversion.credential(`credential:${service}`, one),
      })),
    });
    // Refused where another client has added or removed a credential since they were listed.
    const { success } = await migration.catch(
      onRefusal(['migration-required'], () => ({ success: false })),
    );
    if (success) {
      const { mark } = settings;
      await pins.update((before) => ({ mode: toMode, settings: mark ?? before?.settings ?? null }));
    }
    return success || null;
  }, wait);
}

class Conversion {
  constructor(
    private readonly content: AccountContent,
    private readonly pin: AccountPin | null,
    private readonly toMode: AccountMode,
  ) {}

  async settings(
    stored: SettingsContent,
  ): Promise<{ readonly content: Content | null; readonly mark: SettingsMark | null }> {
    if (this.toMode === 'e2ee') {
      this.refuseUnconfirmed(stored);
    }
    const isPlain = stored?.t === 'plain';
    // Plain settings are not compared with those that this device has seen.
    const pin = isPlain ? ({ mode: 'plain', settings: null } as const) : this.pin;
    const { fields, mark } = await openNewest(stored, this.content, pin);
    if (stored === null || isPlain === (this.toMode === 'plain')) {
      return { content: stored, mark };
    }
    if (isPlain) {
      const rev = (this.pin?.settings?.rev ?? 0) + 1;
      const c = this.content.sealSettings(rev, fields);
      return { content: { t: 'encrypted', c }, mark: this.content.markOf(rev, c) };
    }
    return { content: { t: 'plain', v: fields }, mark };
  }

  credential(purpose: CredentialPurpose, stored: Content): Content {
    if (this.toMode === 'plain') {
      return stored.t === 'plain'
        ? stored
        : { t: 'plain', v: this.content.open(purpose, stored.c) };
    }
    this.refuseUnconfirmed(stored);
    return stored.t === 'plain'
      ? { t: 'encrypted', c: this.content.seal(purpose, stored.v) }
      : stored;
  }

  /** Sealed by this device, content that the server made up would pass as the account's own. */
  private refuseUnconfirmed(stored: SettingsContent): void {
    if (stored?.t === 'plain' && this.pin?.mode !== 'plain') {
      throw new SettingsRefused('plain');
    }
  }
}
