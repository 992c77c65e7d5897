/** The three events: by their names in the settings, and in events and deliveries. */
export const TOPICS = [
  { name: 'ready', event: 'ready' },
  { name: 'permissionRequest', event: 'permission_request' },
  { name: 'userActionRequest', event: 'user_action_request' },
] as const;
