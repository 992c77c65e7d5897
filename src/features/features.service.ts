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

/** Renders the discovery document once, not per request. */
@Injectable()
export class FeaturesService {
  /** `GET /v1/features`, ready to send. */
  readonly rendered: ReturnType<typeof render>;

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
}

function render(document: FeatureDocument) {
  // Text, so that Node sends it in one write with the headers.
  const body = JSON.stringify(document);
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  /** Strong entity tag of the body (RFC 9110, 8.8.3). */
  const etag = `"${digest}"`;
  /** Names and values in turn, as `writeHead` takes them; all but the request's id. */
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
