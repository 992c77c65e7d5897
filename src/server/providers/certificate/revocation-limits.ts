import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from '../http/upstream-http.js';

/** They are signed by themselves, and lists are long. */
export const REVOCATION_LIMITS: UpstreamLimits = {
  ...DEFAULT_UPSTREAM_LIMITS,
  acceptsPlainHttp: true,
  timeoutMs: 10_000,
  maxBytes: 10 * 1024 * 1024,
};
