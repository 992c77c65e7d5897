/**
 * Tokens that are known by their prefix or their form, as their issuers document them for secret
 * scanning. `(?<![\w])` in front: a longer word is none of them.
 */
const SHAPES = [
  // GitHub, GitLab, Bitbucket
  'gh[pousr]_[A-Za-z0-9]{36,255}',
  'github_pat_[A-Za-z0-9_]{22,255}',
  'gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[\\w.-]{20,}',
  'ATBB[A-Za-z0-9]{32,}',
  // Slack, Discord, Telegram
  'xox[abeoprs]-[\\w-]{10,}',
  'xapp-\\d-[\\w-]{10,}',
  '(?<=hooks\\.slack\\.com/(?:services|workflows|triggers)/)[\\w/-]{20,}',
  '(?<=discord(?:app)?\\.com/api/webhooks/\\d{5,25}/)[\\w-]{20,}',
  '\\d{8,10}:AA[\\w-]{33}',
  // Clouds
  '(?:AKIA|ASIA)[A-Z2-7]{16}',
  'AIza[\\w-]{35}',
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{28}',
  'do[opr]_v1_[0-9a-f]{64}',
  'dapi[0-9a-f]{32}',
  'hv[sbr]\\.[\\w-]{24,}',
  '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60,}',
  'dckr_(?:pat|oat)_[\\w-]{20,}',
  'pscale_(?:tkn|pw|oauth)_[\\w.-]{32,}',
  'sbp_[0-9a-f]{40}',
  'gl(?:sa|c)_[\\w+/=]{32,}',
  'NRAK-[A-Z0-9]{27}',
  'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{40,}',
  'lin_api_[A-Za-z0-9]{40}',
  'ATATT3[\\w=-]{50,}',
  'PMAK-[0-9a-f]{24}-[0-9a-f]{34}',
  // Payments, mail
  '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/]{24,}={0,2}',
  'sq0(?:atp|csp)-[\\w-]{22,}',
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  'SG\\.[\\w-]{16,32}\\.[\\w-]{16,64}',
  'SK[0-9a-f]{32}',
  'key-[0-9a-f]{32}',
  '[0-9a-f]{32}-us\\d{1,2}',
  // Models
  'sk-(?:ant|proj|svcacct|admin|or)-[\\w-]{20,}',
  'sk-(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{20,}',
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'pplx-[A-Za-z0-9]{40,}',
  'hf_[A-Za-z0-9]{34,}',
  // Packages
  'npm_[A-Za-z0-9]{36}',
  'pypi-[\\w-]{50,}',
  'rubygems_[0-9a-f]{48}',
  // JWT, JWE; age; the push tokens and the keys of this service
  'eyJ[\\w-]{8,}(?:\\.[\\w-]*){2,4}',
  'AGE-SECRET-KEY-1[0-9A-Z]{58}',
  '(?<=Expo(?:nent)?PushToken\\[)[^\\]\\s]{8,}(?=\\])',
  'gatekey1[02-9ac-hj-np-z]{20,}',
] as const;

/** Each with the token in the group `secret`. */
export const TOKEN_SHAPES: readonly RegExp[] = SHAPES.map(
  (shape) => new RegExp(`(?<!\\w)(?<secret>${shape})`, 'g'),
);
