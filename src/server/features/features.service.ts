import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AdmissionService } from '../auth/admission.service.js';
import { brandConfig, type BrandSettings } from '../config/brand.config.js';
import { uiConfig, type UiSettings } from '../config/browser.config.js';
import { readFullVersion } from '../../common/version.js';
import type { AdmissionPolicy } from '../../core/policy/admission/admission.js';
import {
  featureDocument,
  type FeatureDocument,
} from '../../core/policy/admission/feature-document.js';

/** Renders the discovery document when the policy changes, not per request. */
@Injectable()
export class FeaturesService {
  /** Read once: the file may be of a newer version later, or no file may be open any more. */
  private readonly version = readFullVersion();
  private known: { readonly policy: AdmissionPolicy; readonly page: RenderedPage } | null = null;

  constructor(
    private readonly admission: AdmissionService,
    @Inject(uiConfig.KEY) private readonly ui: UiSettings,
    @Inject(brandConfig.KEY) private readonly brand: BrandSettings,
  ) {}

  get rendered(): RenderedPage {
    const { policy } = this.admission;
    if (this.known?.policy !== policy) {
      const { ui, brand } = this;
      const document = featureDocument({ ...policy, ui }, this.version, brand.support);
      this.known = { policy, page: render(document) };
    }
    return this.known.page;
  }
}

type RenderedPage = ReturnType<typeof render>;

function render(document: FeatureDocument) {
  const body = JSON.stringify(document);
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  /** A strong entity tag (RFC 9110, 8.8.3). */
  const etag = `"${digest}"`;
  const headers = {
    etag,
    'cache-control': 'no-cache',
    'access-control-allow-origin': '*',
    'content-type': 'application/json; charset=utf-8',
  };
  return { body, etag, headers };
}
