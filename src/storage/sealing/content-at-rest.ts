import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { LRUCache } from 'lru-cache';
import { encryptionConfig } from '../../config/encryption.config.js';
import type { Content } from '../../policy/content.js';
import { SealedBox } from './sealed-box.js';

/**
 * How content is stored: `encrypted` by the client, `sealed` by this server, or `plain`. Each value
 * has its own form, so that it is read the way it was written, whatever the setting is now.
 */
export type ContentForm = 'encrypted' | 'sealed' | 'plain';

export type ContentPurpose = 'account-settings' | 'account-credentials';

/** Content as its columns hold it. */
export interface StoredContent {
  readonly form: ContentForm;
  readonly bytes: Buffer;
}

/** A seal, a character a byte, and the text that was in it. */
interface Opened {
  readonly seal: string;
  readonly text: string;
}

const MAX_OPENED_BYTES = 4 * 1024 * 1024;
/** What an entry takes beside its two texts. */
const BYTES_OF_ENTRY = 500;

/** Turns content into what the database may hold, and back. */
@Injectable()
export class ContentAtRest {
  /** What was opened last of each owner: to open a seal takes a tenth of a request. */
  private readonly opened = new LRUCache<string, Opened>({
    maxSize: MAX_OPENED_BYTES,
    sizeCalculation: ({ seal, text }) => seal.length + 2 * text.length + BYTES_OF_ENTRY,
  });

  constructor(
    private readonly box: SealedBox,
    @Inject(encryptionConfig.KEY) private readonly config: ConfigType<typeof encryptionConfig>,
  ) {}

  /** @param service the connected service that credentials are for; none for settings */
  store(purpose: ContentPurpose, content: Content, accountId: string, service = ''): StoredContent {
    if (content.t === 'encrypted') {
      return { form: 'encrypted', bytes: Buffer.from(content.c) };
    }
    const text = JSON.stringify(content.v);
    return this.isSealing(purpose)
      ? { form: 'sealed', bytes: this.box.seal(purpose, ownerOf(accountId, service), text) }
      : { form: 'plain', bytes: Buffer.from(text) };
  }

  /** @throws BrokenSealError when the master secret it was sealed with is gone */
  read(purpose: ContentPurpose, stored: StoredContent, accountId: string, service = ''): Content {
    const { form, bytes } = stored;
    switch (form) {
      case 'encrypted':
        return { t: 'encrypted', c: bytes.toString('utf8') };
      case 'sealed': {
        const text = this.open(purpose, ownerOf(accountId, service), bytes);
        return { t: 'plain', v: JSON.parse(text) as unknown };
      }
      case 'plain':
        return { t: 'plain', v: JSON.parse(bytes.toString('utf8')) as unknown };
    }
  }

  /** The bytes are compared, so that what another process writes is never missed. */
  private open(purpose: ContentPurpose, owner: string, bytes: Buffer): string {
    const key = `${purpose} ${owner}`;
    // A copy, and not the buffer: that may be a piece of a far larger one.
    const seal = bytes.toString('latin1');
    const known = this.opened.get(key);
    if (known?.seal === seal) {
      return known.text;
    }
    const text = this.box.open(purpose, owner, bytes);
    this.opened.set(key, { seal, text });
    return text;
  }

  /** Whether plain content of this kind is sealed when it is written from now on. */
  isSealing(purpose: ContentPurpose): boolean {
    const { plainAccountSettingsAtRest, plainAccountCredentialsAtRest } = this.config;
    const atRest =
      purpose === 'account-settings' ? plainAccountSettingsAtRest : plainAccountCredentialsAtRest;
    return atRest === 'server_sealed';
  }
}

/** Seals what a re-check needs, bound to one account's identity at one provider. */
@Injectable()
export class IdentityCredentials {
  constructor(private readonly box: SealedBox) {}

  seal(accountId: string, provider: string, credentials: string | null): Buffer | null {
    return credentials === null
      ? null
      : this.box.seal('identity-credentials', ownerOf(accountId, provider), credentials);
  }

  /** @throws BrokenSealError when the master secret they were sealed with is gone */
  open(accountId: string, provider: string, sealed: Buffer | null): string | null {
    return sealed === null
      ? null
      : this.box.open('identity-credentials', ownerOf(accountId, provider), sealed);
  }
}

/** The owner of a seal: an account, or one service or provider of it. */
function ownerOf(accountId: string, service: string): string {
  return service === '' ? accountId : `${accountId}/${service}`;
}
