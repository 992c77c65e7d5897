import { createHash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../common/runtime/clock.js';
import { SecretFile } from '../config/environment/secret-file.js';
import { readBearerTokens } from '../config/providers-file/bearer-tokens.js';
import type { ScimSettings } from '../config/providers-file/provider-settings.js';
import { providersConfig } from '../config/providers.config.js';

interface Directory {
  readonly settings: ScimSettings;
  /** SHA-256 of the valid tokens. */
  readonly tokens: SecretFile<readonly Buffer[]>;
}

/** The directories of the providers file, and their tokens. */
@Injectable()
export class DirectoriesService {
  private readonly directories: ReadonlyMap<string, Directory>;

  constructor(
    clock: Clock,
    @Inject(providersConfig.KEY) providers: ConfigType<typeof providersConfig>,
  ) {
    this.directories = new Map(
      providers.flatMap((provider) => {
        const settings = provider.type === 'oidc' ? provider.scim : null;
        return settings === null ? [] : [[provider.id, directoryOf(settings, clock)] as const];
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
    const valid = (await this.directories.get(provider)?.tokens.current()) ?? [];
    const given = hashOf(token);
    return valid.filter((hash) => timingSafeEqual(hash, given)).length > 0;
  }
}

function directoryOf(settings: ScimSettings, clock: Clock): Directory {
  const parse = (text: string): readonly Buffer[] => readBearerTokens(text).map(hashOf);
  const { tokenText, tokenFile } = settings;
  return { settings, tokens: new SecretFile(clock, parse(tokenText), tokenFile, parse) };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
