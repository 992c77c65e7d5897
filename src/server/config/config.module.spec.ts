import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Test } from '@nestjs/testing';
import { authConfig } from './auth.config.js';
import { AppConfigModule, readEnvironment } from './config.module.js';
import { providersConfig } from './providers.config.js';
import { resolveSettings } from './resolve-settings.js';

@Injectable()
class Consumer {
  constructor(
    @Inject(authConfig.KEY) readonly auth: ConfigType<typeof authConfig>,
    @Inject(providersConfig.KEY) readonly providers: ConfigType<typeof providersConfig>,
  ) {}
}

@Module({ providers: [Consumer] })
class FeatureModule {}

describe('AppConfigModule', () => {
  it('provides the same frozen slices to a module that does not import it', async () => {
    const { settings } = resolveSettings({ PORT: '0' });
    const testing = await Test.createTestingModule({
      imports: [AppConfigModule.forRoot(settings), FeatureModule],
    }).compile();
    expect(testing.get(Consumer).auth).toBe(settings.auth);
    expect(testing.get(Consumer).providers).toBe(settings.providers);
  });

  it('provides a copy of the environment, and does not change the original', async () => {
    const before = readEnvironment();
    await Test.createTestingModule({
      imports: [AppConfigModule.forRoot(resolveSettings({}).settings)],
    }).compile();
    readEnvironment()['PATH'] = 'changed';
    expect(readEnvironment()).toEqual(before);
  });

  it('names the module to use when a namespace is loaded without it', () => {
    expect(() => authConfig()).toThrow('AppConfigModule.forRoot');
  });
});
