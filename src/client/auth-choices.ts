import type { AuthAction, AuthMethod, AuthMode } from '../policy/auth-methods.js';
import type { AccountMode, StoragePolicy } from '../policy/storage-policy.js';
import { readAuthMethods } from './auth-methods-reader.js';
import { isRecord } from './problem.js';
import { chooseProvisioning, type ProvisioningChoice } from './provisioning-choice.js';

/** A way in that is not a provider: the device's own key, or a client certificate. */
export interface PlainWayIn {
  readonly canLogIn: boolean;
  readonly canSignUp: boolean;
}

/** One button on the login screen. */
export interface ProviderWayIn {
  readonly id: string;
  readonly displayName: string;
  readonly iconHint: string | null;
  readonly buttonColor: string | null;
  /** Whether a person whose account has no device keys gets in with this alone. */
  readonly canLogInKeyless: boolean;
  /** What somebody new is asked, or which kind of account is taken without asking. */
  readonly provisioning: ProvisioningChoice;
  /** What to begin the login with: `mode` of `client.external.start`. */
  readonly startMode: AuthMode;
}

/** Everything a login screen shows, and nothing it has to guess. */
export interface AuthChoices {
  readonly deviceKey: PlainWayIn;
  readonly certificate: PlainWayIn;
  /** In the order the server lists them. */
  readonly providers: readonly ProviderWayIn[];
  /** Providers to link from the settings of an account of this kind. */
  readonly connectable: Readonly<Record<AuthMode, readonly string[]>>;
  /** Go there at once in place of showing the screen; null = show it. */
  readonly autoRedirectProviderId: string | null;
}

const OWN_METHODS = ['key_challenge', 'mtls'];

/**
 * Reads what to offer from `GET /v1/features`, as the server sent it. A method that is neither this
 * kit's own nor a provider that the document describes belongs to a newer client: it is left out.
 */
export function authChoices(features: unknown): AuthChoices {
  const { auth, storagePolicy } = capabilitiesOf(features);
  const methods = readAuthMethods(auth);
  const looks = isRecord(auth['providers']) ? auth['providers'] : {};
  const isLegacy = !Array.isArray(auth['methods']);
  const ids = [...new Set(methods.map(({ method }) => method))].filter(
    (id) => !OWN_METHODS.includes(id) && (isLegacy || Object.hasOwn(looks, id)),
  );
  const offered = (id: string): Offer => offerOf(methods, id);
  const providers = ids
    .map((id) => providerWayIn(id, offered(id), looks[id], storagePolicy))
    .filter(({ canLogInKeyless, provisioning }) => canLogInKeyless || provisioning.kind !== 'none');
  const connectable = (mode: AuthMode): string[] =>
    ids.filter((id) => offered(id)('connect', mode));
  return {
    deviceKey: plainWayIn(offered('key_challenge'), 'keyed'),
    certificate: plainWayIn(offered('mtls'), 'keyless'),
    providers,
    connectable: { keyed: connectable('keyed'), keyless: connectable('keyless') },
    autoRedirectProviderId: autoRedirectOf(auth['ui'], providers),
  };
}

type Offer = (action: AuthAction, mode: AuthMode) => boolean;

function offerOf(methods: readonly AuthMethod[], id: string): Offer {
  return (action, mode) =>
    methods.some((one) => one.method === id && one.action === action && one.mode === mode);
}

function plainWayIn(offers: Offer, mode: AuthMode): PlainWayIn {
  return { canLogIn: offers('login', mode), canSignUp: offers('provision', mode) };
}

function providerWayIn(
  id: string,
  offers: Offer,
  look: unknown,
  storagePolicy: StoragePolicy,
): ProviderWayIn {
  const modes: AccountMode[] = [
    ...(offers('provision', 'keyed') ? ['e2ee' as const] : []),
    ...(offers('provision', 'keyless') ? ['plain' as const] : []),
  ];
  const canLogInKeyless = offers('login', 'keyless') && storagePolicy !== 'required_e2ee';
  const text = (field: string): string | null =>
    isRecord(look) && typeof look[field] === 'string' ? look[field] : null;
  return {
    id,
    displayName: text('displayName') ?? id,
    iconHint: text('iconHint'),
    buttonColor: text('buttonColor'),
    canLogInKeyless,
    provisioning: chooseProvisioning(storagePolicy, modes),
    startMode: canLogInKeyless ? 'keyless' : 'keyed',
  };
}

function autoRedirectOf(ui: unknown, providers: readonly ProviderWayIn[]): string | null {
  const redirect = isRecord(ui) ? ui['autoRedirect'] : null;
  if (!isRecord(redirect) || redirect['enabled'] !== true) {
    return null;
  }
  return providers.find(({ id }) => id === redirect['providerId'])?.id ?? null;
}

function capabilitiesOf(features: unknown): {
  auth: Record<string, unknown>;
  storagePolicy: StoragePolicy;
} {
  const part = (of: unknown, name: string): Record<string, unknown> => {
    const found = isRecord(of) ? of[name] : null;
    return isRecord(found) ? found : {};
  };
  const capabilities = part(features, 'capabilities');
  const policy = part(capabilities, 'encryption')['storagePolicy'];
  const isOpen = policy === 'optional' || policy === 'plaintext_only';
  // A server that says nothing is one from before there was anything but end-to-end encryption.
  return { auth: part(capabilities, 'auth'), storagePolicy: isOpen ? policy : 'required_e2ee' };
}
