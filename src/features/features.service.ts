import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { authConfig } from '../config/auth.config.js';
import { uiConfig } from '../config/browser.config.js';
import { encryptionConfig } from '../config/encryption.config.js';
import { keylessConfig } from '../config/keyless.config.js';
import { mtlsConfig } from '../config/mtls.config.js';
import { providersConfig } from '../config/providers.config.js';
import { readVersion } from '../common/version.js';
import { featureDocument, type FeatureDocument } from '../policy/admission/feature-document.js';

/** `GET /v1/features`, ready to send. */
export interface FeatureBytes {
  /** Text, so that Node sends it in one write with the headers. */
  readonly body: string;
  /** Strong entity tag of the body (RFC 9110, 8.8.3). */
  readonly etag: string;
  /** Names and values in turn, as `writeHead` takes them; all but the request's id. */
  readonly headers: readonly string[];
}

/** Renders the discovery document once, not per request. */
@Injectable()
export class FeaturesService {
  private readonly rendered: FeatureBytes;

  constructor(
    @Inject(authConfig.KEY) auth: ConfigType<typeof authConfig>,
    @Inject(encryptionConfig.KEY) encryption: ConfigType<typeof encryptionConfig>,
    @Inject(keylessConfig.KEY) keyless: ConfigType<typeof keylessConfig>,
    @Inject(mtlsConfig.KEY) mtls: ConfigType<typeof mtlsConfig>,
    @Inject(providersConfig.KEY) providers: ConfigType<typeof providersConfig>,
    @Inject(uiConfig.KEY) ui: ConfigType<typeof uiConfig>,
  ) {
    const policy = { auth, encryption, keyless, mtls, providers, ui };
    this.rendered = render(featureDocument(policy, readVersion()));
  }

  current(): FeatureBytes {
    return this.rendered;
  }
}

function render(document: FeatureDocument): FeatureBytes {
  const body = JSON.stringify(document);
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  const etag = `"${digest}"`;
  const headers = [
    ...['etag', etag],
    ...['cache-control', 'no-cache'],
    ...['access-control-allow-origin', '*'],
    ...['x-content-type-options', 'nosniff'],
    ...['content-type', 'application/json; charset=utf-8'],
    ...['content-length', String(Buffer.byteLength(body))],
  ];
  return { body, etag, headers };
}
