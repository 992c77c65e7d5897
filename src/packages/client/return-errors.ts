/** English messages by `error` of the return address (contract, External providers). */
export const RETURN_ERRORS = {
  access_denied: 'You or the provider denied the request.',
  not_eligible: 'The provider identified you, but the policy of this server does not admit you.',
  invalid_state: 'This sign-in was already used, or it expired after ten minutes. Start again.',
  keyless_disabled: 'This server has no accounts without a device key.',
  e2ee_required: 'This server requires a device key.',
  upstream_error: 'The provider is not available. Try again shortly.',
  mtls_required: 'Your browser sent no certificate that this server trusts.',
  restore_required: 'Your account has a device key: sign in with it.',
  account_disabled: 'This account is disabled. Contact the operator of this server.',
};

/** @param error `error` of the return address, for example `access_denied` */
export function returnErrorMessage(error: string): string {
  const messages: Readonly<Record<string, string>> = RETURN_ERRORS;
  return Object.hasOwn(messages, error)
    ? `${messages[error]}`
    : `This sign-in was refused (${error}).`;
}
