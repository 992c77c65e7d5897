import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { KeyedAccounts } from '../auth/device-key/keyed-accounts.js';
import { isMtlsReachable } from '../config/policy-facts.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { readVersion } from '../config/version.js';
import { featureDocument, type FeatureFacts } from '../policy/feature-document.js';

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
  private rendered: FeatureBytes;

  constructor(@Inject(SETTINGS) settings: Settings, keyedAccounts: KeyedAccounts) {
    this.rendered = render(toFacts(settings, false));
    keyedAccounts.onExist(() => {
      this.rendered = render(toFacts(settings, true));
    });
  }

  current(): FeatureBytes {
    return this.rendered;
  }
}

function render(facts: FeatureFacts): FeatureBytes {
  const body = JSON.stringify(featureDocument(facts));
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

function toFacts(settings: Settings, keyedAccountsExist: boolean): FeatureFacts {
  const { auth, encryption, keyless, mtls } = settings;
  return {
    storagePolicy: encryption.storagePolicy,
    keyChallengeEnabled: auth.keyChallengeEnabled,
    keyedAccountsExist,
    anonymousSignupEnabled: auth.anonymousSignupEnabled,
    keylessAccountsEnabled: keyless.accountsEnabled,
    keylessOAuthEnabled: keyless.oauth.enabled,
    keylessOAuthProviders: keyless.oauth.providers,
    keylessOAuthAutoProvision: keyless.oauth.autoProvision,
    signupProviders: auth.signupProviders,
    providers: settings.providers.map(({ id }) => id),
    mtlsUsable: mtls.enabled && isMtlsReachable(mtls),
    mtlsAutoProvision: mtls.autoProvision,
    requiredProviders: auth.requiredLoginProviders,
    requireServerChallenge: auth.requireServerChallenge,
    looks: settings.providers.map(({ id, displayName, ui: look }) => ({
      id,
      displayName,
      ...look,
    })),
    autoRedirectProvider: autoRedirectOf(settings),
    defaultAccountMode: encryption.defaultAccountMode,
    allowAccountOptOut: encryption.allowAccountOptOut,
    plainAccountSettingsAtRest: encryption.plainAccountSettingsAtRest,
    plainAccountCredentialsAtRest: encryption.plainAccountCredentialsAtRest,
    version: readVersion(),
  };
}

/** Clients that would be sent to what is not there get a way in to choose instead. */
function autoRedirectOf({ ui: { autoRedirect }, providers, mtls }: Settings): string | null {
  const { enabled, providerId } = autoRedirect;
  const isThere =
    providers.some(({ id }) => id === providerId) ||
    (providerId === 'mtls' && mtls.enabled && isMtlsReachable(mtls));
  return enabled && isThere ? providerId : null;
}
