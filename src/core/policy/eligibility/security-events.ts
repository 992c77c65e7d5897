/**
 * The effect of an event on its identity. `sign-out`: its sessions end until the next login at the
 * provider. `refuse`, `admit`: the source's decision. `recheck`: due at once; `forget-email`
 * also forgets its address. `risk`: the operator decides. `none`: about the stream.
 */
export type EventEffect =
  | 'sign-out'
  | 'refuse'
  | 'admit'
  | 'recheck'
  | 'forget-email'
  | 'risk'
  | 'none';

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/';
const SSF = 'https://schemas.openid.net/secevent/ssf/event-type/';

/** Events of CAEP 1.0, RISC 1.0 and SSF 1.0 by their address. */
const EFFECTS: Readonly<Record<string, EventEffect>> = {
  [`${CAEP}session-revoked`]: 'sign-out',
  [`${RISC}sessions-revoked`]: 'sign-out',
  [`${RISC}account-disabled`]: 'refuse',
  [`${RISC}account-purged`]: 'refuse',
  [`${RISC}account-enabled`]: 'admit',
  [`${CAEP}credential-change`]: 'recheck',
  [`${CAEP}token-claims-change`]: 'recheck',
  [`${RISC}identifier-changed`]: 'forget-email',
  [`${RISC}identifier-recycled`]: 'forget-email',
  [`${CAEP}assurance-level-change`]: 'risk',
  [`${CAEP}device-compliance-change`]: 'risk',
  [`${CAEP}risk-level-change`]: 'risk',
  [`${SSF}verification`]: 'none',
  [`${SSF}stream-updated`]: 'none',
};

/** The events that a stream is asked for. Those about the stream itself are sent in any case. */
export const REQUESTED_EVENTS = Object.keys(EFFECTS).filter((name) => !name.startsWith(SSF));

/** @returns null for an event that this server does not know; `kind` is the last part of its address */
export function knownEvent(address: string) {
  const effect = Object.hasOwn(EFFECTS, address) ? EFFECTS[address] : undefined;
  return effect === undefined
    ? null
    : { kind: address.slice(address.lastIndexOf('/') + 1), effect };
}
