import type { AuthAction, AuthMethod, AuthMode } from '../../../core/policy/admission/admission.js';
import type { AccountMode, StoragePolicy } from '../../../core/policy/operator-policy.js';
import { isRecord, recordOf } from '../../../core/protocol/is-record.js';

/** Login without a provider: the device key, or a client certificate. */
export interface MethodChoice {
  readonly canLogIn: boolean;
  readonly canSignUp: boolean;
}

export interface DeviceKeyChoice extends MethodChoice {
  /** True if a new key signs up with an invitation; without one only where `canSignUp`. */
  readonly canSignUpInvited: boolean;
}

/** A provider on the login screen. */
export interface ProviderChoice {
  readonly id: string;
  readonly displayName: string;
  readonly iconHint: string | null;
  readonly buttonColor: string | null;
  /** True if accounts without a device key sign in with this provider alone. */
  readonly canLogInKeyless: boolean;
  /** Kinds of account that a new user may choose, or the one that is created. */
  readonly provisioning: ProvisioningChoice;
  /** `mode` for `client.external.start`. */
  readonly startMode: AuthMode;
}

/** Everything that a login screen shows. */
export interface AuthChoices {
  readonly deviceKey: DeviceKeyChoice;
  readonly certificate: MethodChoice;
  /** In the server's order. */
  readonly providers: readonly ProviderChoice[];
  /** Providers that an account of this kind can link. */
  readonly connectable: Readonly<Record<AuthMode, readonly string[]>>;
  /** Redirect there instead of showing the screen; null = show it. */
  readonly autoRedirectProviderId: string | null;
}

const OWN_METHODS = ['key_challenge', 'mtls'];

/**
 * Reads the login methods from the answer of `GET /v1/features`. A method that is neither built in
 * nor a described provider needs a newer client: it is skipped.
 */
export function authChoices(features: unknown): AuthChoices {
  const { auth, storagePolicy } = capabilitiesOf(features);
  const methods = readAuthMethods(auth);
  const described = recordOf(auth['providers']);
  const isLegacy = !Array.isArray(auth['methods']);
  const ids = [...new Set(methods.map(({ method }) => method))].filter(
    (id) => !OWN_METHODS.includes(id) && (isLegacy || Object.hasOwn(described, id)),
  );
  const offered =
    (id: string): Offer =>
    (action, mode) =>
      methods.some((one) => one.method === id && one.action === action && one.mode === mode);
  const providers = ids
    .map((id) => providerChoice(id, offered(id), described[id], storagePolicy))
    .filter(({ canLogInKeyless, provisioning }) => canLogInKeyless || provisioning.kind !== 'none');
  const connectable = (mode: AuthMode): string[] =>
    ids.filter((id) => offered(id)('connect', mode));
  return {
    deviceKey: {
      ...methodChoice(offered('key_challenge'), 'keyed'),
      canSignUpInvited: acceptsInvitations(auth),
    },
    certificate: methodChoice(offered('mtls'), 'keyless'),
    providers,
    connectable: { keyed: connectable('keyed'), keyless: connectable('keyless') },
    autoRedirectProviderId: autoRedirectOf(auth['ui'], providers),
  };
}

/** No method of `methods`: the device key sends the invitation with its first login. */
function acceptsInvitations(auth: Readonly<Record<string, unknown>>): boolean {
  const { methods } = recordOf(auth['signup']);
  const isOpen = (entry: unknown): boolean =>
    isRecord(entry) && entry['id'] === 'invitation' && entry['enabled'] === true;
  return Array.isArray(methods) && methods.some(isOpen);
}

type Offer = (action: AuthAction, mode: AuthMode) => boolean;

function methodChoice(offers: Offer, mode: AuthMode): MethodChoice {
  return { canLogIn: offers('login', mode), canSignUp: offers('provision', mode) };
}

function providerChoice(
  id: string,
  offers: Offer,
  description: unknown,
  storagePolicy: StoragePolicy,
): ProviderChoice {
  const modes: AccountMode[] = [
    ...(offers('provision', 'keyed') ? ['e2ee' as const] : []),
    ...(offers('provision', 'keyless') ? ['plain' as const] : []),
  ];
  const canLogInKeyless = offers('login', 'keyless') && storagePolicy !== 'required_e2ee';
  const text = (field: string): string | null =>
    isRecord(description) && typeof description[field] === 'string' ? description[field] : null;
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

function autoRedirectOf(ui: unknown, providers: readonly ProviderChoice[]): string | null {
  const { enabled, providerId } = recordOf(recordOf(ui)['autoRedirect']);
  return providers.find(({ id }) => enabled === true && id === providerId)?.id ?? null;
}

function capabilitiesOf(features: unknown) {
  const { auth, encryption } = recordOf(recordOf(features)['capabilities']);
  const { storagePolicy: policy } = recordOf(encryption);
  // Servers without this field support end-to-end encryption only.
  const isOpen = policy === 'optional' || policy === 'plaintext_only';
  return { auth: recordOf(auth), storagePolicy: isOpen ? policy : 'required_e2ee' } as const;
}

/** The kind of account for a new user that a provider identified. */
export type ProvisioningChoice =
  /** Ask: `e2ee` creates a device-key account, `plain` one whose content the server can read. */
  | { readonly kind: 'ask'; readonly modes: readonly AccountMode[] }
  /** One kind is possible: create it without asking. */
  | { readonly kind: 'selected'; readonly mode: AccountMode }
  /** This provider creates no accounts on this server. */
  | { readonly kind: 'none' };

const POSSIBLE: Readonly<Record<StoragePolicy, readonly AccountMode[]>> = {
  required_e2ee: ['e2ee'],
  optional: ['e2ee', 'plain'],
  plaintext_only: ['plain'],
};

/**
 * Decides if the client asks for the kind of account, and which kinds it offers (specification,
 * OAuth provisioning choice 1 to 3).
 *
 * @param offered the kinds of account that the provider creates: from the advertised methods, or
 * `provisioningModes` of the return address. Empty = none
 */
export function chooseProvisioning(
  policy: StoragePolicy,
  offered: readonly AccountMode[],
): ProvisioningChoice {
  const modes = POSSIBLE[policy].filter((mode) => offered.includes(mode));
  const [only] = modes;
  if (only === undefined) {
    return { kind: 'none' };
  }
  return modes.length === 1 ? { kind: 'selected', mode: only } : { kind: 'ask', modes };
}

const ACTIONS: readonly AuthAction[] = ['login', 'provision', 'connect'];
const MODES: readonly AuthMode[] = ['keyed', 'keyless'];

/**
 * The methods that a server advertises: `capabilities.auth.methods`, or `signup.methods` of an older
 * server, where device-key login always works (specification, Versioning 2 and 3). Unknown entries
 * are skipped one by one, so they are read by hand and not by a schema.
 *
 * @param auth `capabilities.auth` as it came
 */
export function readAuthMethods(auth: unknown): AuthMethod[] {
  const { methods, signup } = recordOf(auth);
  return Array.isArray(methods)
    ? methods.flatMap(readMethod)
    : legacyMethods(recordOf(signup)['methods']);
}

function readMethod(entry: unknown): AuthMethod[] {
  if (!isRecord(entry) || typeof entry['method'] !== 'string') {
    return [];
  }
  const action = ACTIONS.find((known) => known === entry['action']);
  const mode = MODES.find((known) => known === entry['mode']);
  return action && mode ? [{ method: entry['method'], action, mode }] : [];
}

function legacyMethods(methods: unknown): AuthMethod[] {
  if (!Array.isArray(methods)) {
    return [];
  }
  const provisioning = methods.flatMap((entry): AuthMethod[] =>
    isRecord(entry) && typeof entry['id'] === 'string' && entry['enabled'] === true
      ? [
          {
            method: entry['id'] === 'anonymous' ? 'key_challenge' : entry['id'],
            action: 'provision',
            mode: 'keyed',
          },
        ]
      : [],
  );
  return [{ method: 'key_challenge', action: 'login', mode: 'keyed' }, ...provisioning];
}
