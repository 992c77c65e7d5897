import { Inject, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../../common/errors.js';
import { encryptionConfig, type EncryptionSettings } from '../../config/encryption.config.js';
import type { Content } from '../../../core/protocol/content.js';
import { SealedBoxService } from './sealed-box.service.js';

/** `encrypted` by the client, `sealed` by this server, or `plain`; whatever the setting is now. */
export type ContentForm = 'encrypted' | 'sealed' | 'plain';

export type ContentPurpose = 'account-settings' | 'account-credentials' | 'agent-request';

export interface StoredContent {
  readonly form: ContentForm;
  readonly bytes: Buffer;
}

/** A seal, one character per byte, and its plain text. */
interface Opened {
  readonly seal: string;
  readonly text: string;
}

const MAX_OPENED_BYTES = 4 * 1024 * 1024;
const BYTES_OF_ENTRY = 500;

@Injectable()
export class ContentAtRestService {
  private readonly logger = new Logger(ContentAtRestService.name);
  /** The newest opened content of each owner: opening a seal takes a tenth of a request. */
  private readonly opened = new LRUCache<string, Opened>({
    maxSize: MAX_OPENED_BYTES,
    sizeCalculation: ({ seal, text }) => seal.length + 2 * text.length + BYTES_OF_ENTRY,
  });

  constructor(
    private readonly box: SealedBoxService,
    @Inject(encryptionConfig.KEY) private readonly config: EncryptionSettings,
  ) {}

  /** @param part the connected service of credentials, or the id of a request; none for settings */
  store(purpose: ContentPurpose, content: Content, accountId: string, part = ''): StoredContent {
    if (content.t === 'encrypted') {
      return { form: 'encrypted', bytes: Buffer.from(content.c) };
    }
    const text = JSON.stringify(content.v);
    return this.isSealing(purpose)
      ? { form: 'sealed', bytes: this.box.seal(purpose, ownerOf(accountId, part), text) }
      : { form: 'plain', bytes: Buffer.from(text) };
  }

  /**
   * Refuses plain content while content is sealed: a writer of the database could have put it
   * there, without the master secret.
   * @throws AppError `migration-required` for plain content that is to be sealed.
   * @throws BrokenSealError when the master secret it was sealed with is gone
   */
  read(purpose: ContentPurpose, stored: StoredContent, accountId: string, part = ''): Content {
    const { form, bytes } = stored;
    switch (form) {
      case 'encrypted':
        return { t: 'encrypted', c: bytes.toString('utf8') };
      case 'sealed': {
        const text = this.open(purpose, ownerOf(accountId, part), bytes);
        return { t: 'plain', v: JSON.parse(text) as unknown };
      }
      case 'plain':
        if (this.isSealing(purpose)) {
          this.logger.error({
            msg: 'stored content is not sealed and was refused',
            purpose,
            accountId,
          });
          throw new AppError('migration-required');
        }
        return { t: 'plain', v: JSON.parse(bytes.toString('utf8')) as unknown };
    }
  }

  /** Compares the bytes, so that a write of another process is never missed. */
  private open(purpose: ContentPurpose, owner: string, bytes: Buffer): string {
    const key = `${purpose} ${owner}`;
    // A copy of the bytes: the buffer may be a slice of a far larger one.
    const seal = bytes.toString('latin1');
    const known = this.opened.get(key);
    if (known?.seal === seal) {
      return known.text;
    }
    const text = this.box.open(purpose, owner, bytes);
    this.opened.set(key, { seal, text });
    return text;
  }

  isSealing(purpose: ContentPurpose): boolean {
    const { plainAccountSettingsAtRest, plainAccountCredentialsAtRest } = this.config;
    const atRest =
      purpose === 'account-credentials'
        ? plainAccountCredentialsAtRest
        : plainAccountSettingsAtRest;
    return atRest === 'server_sealed';
  }
}

/** Returns the owner of a seal: an account, or one service or request of an account. */
function ownerOf(accountId: string, part: string): string {
  return part === '' ? accountId : `${accountId}/${part}`;
}
