import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AppConfigModule, readEnvironment } from './config.module.js';
import { resolveSettings } from './resolve-settings.js';
import { SETTINGS, type Settings } from './settings.js';

@Injectable()
class Consumer {
  constructor(@Inject(SETTINGS) readonly settings: Settings) {}
}

@Module({ providers: [Consumer] })
class FeatureModule {}

describe('AppConfigModule', () => {
  it('gives the very same frozen settings to a module that does not import it', async () => {
    const { settings } = resolveSettings({ PORT: '0' });
    const testing = await Test.createTestingModule({
      imports: [AppConfigModule.forRoot(settings), FeatureModule],
    }).compile();
    expect(testing.get(Consumer).settings).toBe(settings);
  });

  it('leaves the environment of the process as it was, and gives a copy of it', async () => {
    const before = readEnvironment();
    await Test.createTestingModule({
      imports: [AppConfigModule.forRoot(resolveSettings({}).settings)],
    }).compile();
    readEnvironment()['PATH'] = 'changed';
    expect(readEnvironment()).toEqual(before);
  });
});
