export const TOPICS = [
  { name: 'ready', event: 'ready' },
  { name: 'permissionRequest', event: 'permission_request' },
  { name: 'userActionRequest', event: 'user_action_request' },
] as const;
