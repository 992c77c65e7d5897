import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Admission } from '../auth/admission.js';
import { uiConfig } from '../config/browser.config.js';
import { readVersion } from '../common/version.js';
import { featureDocument, type FeatureDocument } from '../policy/admission/feature-document.js';

/** Renders the discovery document once, not per request. */
@Injectable()
export class FeaturesService {
  /** `GET /v1/features`, ready to send. */
  readonly rendered: ReturnType<typeof render>;

  constructor(admission: Admission, @Inject(uiConfig.KEY) ui: ConfigType<typeof uiConfig>) {
    this.rendered = render(featureDocument({ ...admission.policy, ui }, readVersion()));
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
