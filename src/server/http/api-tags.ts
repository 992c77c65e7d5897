/** The groups of routes in the order in which a reader needs them, with their purpose. */
export const ACCOUNT_TAGS = {
  discovery: 'The sign-ins and features of this server. Ask first: it needs no token.',
  auth: 'Sign up and sign in with a device key.',
  'external providers': 'Sign in through an identity provider, or connect one to the account.',
  'client certificates': 'Sign in with a client certificate, or connect one to the account.',
  devices: 'Add a device to an account, with the approval of one that is signed in.',
  sessions: 'List, name and end sessions; sign out.',
  account: 'The account, its settings, credentials and encryption.',
  'push tokens': 'The devices that get the notifications of the account.',
  requests: 'Ask the person on another device, and answer there.',
  'provider signals': 'For identity providers: sign-outs, security events and webhooks.',
  operations: 'For load balancers: the health of a process.',
} as const;

export const BACKEND_TAGS = {
  'resource servers': 'Exchange and check tokens, and learn which sessions end.',
  programs: 'Programs that act for a person, and the consent of the person.',
} as const;

export const ADMIN_TAGS = {
  access: 'The caller, and the sign-in of administrators.',
  accounts: 'Find accounts, see why they are served or refused, and act on them.',
  invitations: 'Codes with which people create accounts.',
  audit: 'Who did what, and why a person was refused.',
  policy: 'The rules in force, findings about them, and plans of changes.',
  operations: 'Counts, identity providers, backends and signals.',
} as const;
