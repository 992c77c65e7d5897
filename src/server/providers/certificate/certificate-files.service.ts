import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Timers } from '../../../common/runtime/timers.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import { certificateFiles, type LoadedFiles } from './certificate-files.js';

const LOOK_EVERY_MS = 2000;

/** The certificate files. Key and certificate of different age are an invalid change, too. */
@Injectable()
export class CertificateFilesService implements OnModuleInit {
  private readonly logger = new Logger('ClientCertificates');
  private readonly listeners: ((loaded: LoadedFiles, before: LoadedFiles) => void)[] = [];
  private loaded: LoadedFiles = NOT_LOADED;
  private looking: Promise<void> | null = null;
  private readonly files: ReturnType<typeof certificateFiles>;

  constructor(@Inject(mtlsConfig.KEY) mtls: MtlsSettings, timers: Timers) {
    this.files = certificateFiles(
      mtls,
      () => timers.nextTurn(),
      (reason) => this.logger.error(`Changed certificate files are not used: ${reason}`),
    );
  }

  async onModuleInit(): Promise<void> {
    this.loaded = (await this.files?.load()) ?? this.loaded;
  }

  current(): LoadedFiles {
    return this.loaded;
  }

  /** True if a file changed to something that cannot be used. */
  get hasUnusedChange(): boolean {
    return this.files?.hasUnusedChange ?? false;
  }

  onChange(listener: (loaded: LoadedFiles, before: LoadedFiles) => void): void {
    this.listeners.push(listener);
  }

  /** Once at a time: a long revocation list is read in slices. */
  @Interval(LOOK_EVERY_MS)
  async poll(): Promise<void> {
    this.looking ??= this.readChange().finally(() => {
      this.looking = null;
    });
    await this.looking;
  }

  private async readChange(): Promise<void> {
    const before = this.loaded;
    const loaded = (await this.files?.poll()) ?? null;
    if (loaded !== null) {
      this.loaded = loaded;
      this.listeners.forEach((listener) => listener(loaded, before));
      this.logger.log('The certificate files have changed and are in use.');
    }
  }
}

const NOT_LOADED: LoadedFiles = {
  tls: { cert: undefined, key: undefined, ca: undefined, crl: undefined },
  trust: null,
  pathTrust: null,
  revocations: null,
};
