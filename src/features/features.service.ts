import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Admission } from '../auth/admission.js';
import { uiConfig } from '../config/browser.config.js';
import { readVersion } from '../common/version.js';
import type { AdmissionPolicy } from '../policy/admission/admission.js';
import { featureDocument, type FeatureDocument } from '../policy/admission/feature-document.js';

/** Renders the discovery document when the policy changes, not per request. */
@Injectable()
export class FeaturesService {
  private known: { readonly policy: AdmissionPolicy; readonly page: RenderedPage } | null = null;

  constructor(
    private readonly admission: Admission,
    @Inject(uiConfig.KEY) private readonly ui: ConfigType<typeof uiConfig>,
  ) {}

  /** `GET /v1/features`, ready to send. */
  get rendered(): RenderedPage {
    const { policy } = this.admission;
    if (this.known?.policy !== policy) {
      const page = render(featureDocument({ ...policy, ui: this.ui }, readVersion()));
      this.known = { policy, page };
    }
    return this.known.page;
  }
}

type RenderedPage = ReturnType<typeof render>;

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
