import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { BearerTokens } from '../config/providers-file/bearer-tokens.js';
import type { ScimSettings } from '../config/providers-file/provider-settings.js';
import { providersConfig, type ConfiguredProviders } from '../config/providers.config.js';

interface Directory {
  readonly settings: ScimSettings;
  readonly tokens: BearerTokens;
}

/** The directories of the providers file, and their tokens. */
@Injectable()
export class DirectoriesService {
  private readonly directories: ReadonlyMap<string, Directory>;

  constructor(clock: Clock, @Inject(providersConfig.KEY) providers: ConfiguredProviders) {
    this.directories = new Map(
      providers.flatMap((provider) => {
        const settings = provider.type === 'oidc' ? provider.scim : null;
        return settings === null
          ? []
          : [[provider.id, { settings, tokens: new BearerTokens(clock, settings) }] as const];
      }),
    );
  }

  ids(): string[] {
    return [...this.directories.keys()];
  }

  settingsOf(provider: string): ScimSettings | null {
    return this.directories.get(provider)?.settings ?? null;
  }

  /** Compares in constant time, with every valid token of the provider. */
  async isToken(provider: string, token: string): Promise<boolean> {
    return (await this.directories.get(provider)?.tokens.include(token)) === true;
  }
}
